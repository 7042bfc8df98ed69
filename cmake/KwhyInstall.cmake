# Where everything goes: `cmake --install`, the `man` and `installed` targets and, in a portable build, the `portable` target.

# Man pages: one scdoc source a page. A release's source also has the pages themselves.
find_program(KWHY_SCDOC scdoc)
file(GLOB man_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.scd)
file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
if(NOT man_pages AND KWHY_SCDOC)
	foreach(source IN LISTS man_sources)
		get_filename_component(page ${source} NAME_WLE)
		set(target ${PROJECT_BINARY_DIR}/man/${page})
		add_custom_command(OUTPUT ${target}
			COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
			COMMAND ${CMAKE_COMMAND} -E env SOURCE_DATE_EPOCH=0 ${KWHY_SCDOC} < ${source} > ${target}
			DEPENDS ${source} VERBATIM)
		list(APPEND man_pages ${target})
	endforeach()
elseif(NOT man_pages)
	message(STATUS "scdoc not found: no man pages")
endif()
add_custom_target(man ALL DEPENDS ${man_pages})

if(TARGET kwhy)
	install(TARGETS kwhy RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY profiles DESTINATION ${CMAKE_INSTALL_DATADIR}/kwhy FILES_MATCHING PATTERN "*.json")
install(DIRECTORY monitoring DESTINATION ${CMAKE_INSTALL_DATADIR}/kwhy USE_SOURCE_PERMISSIONS)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/kwhy)
install(DIRECTORY bindings/python/kwhy DESTINATION ${CMAKE_INSTALL_DATADIR}/kwhy/python FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES completions/kwhy.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kwhy)
install(FILES completions/_kwhy DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/kwhy.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md ARCHITECTURE.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "man" EXCLUDE)

# What `cmake --install` puts down and a build makes.
if(TARGET kwhy)
	add_custom_target(installed DEPENDS kwhy kwhy_shared kwhy_analyse_shared kwhy-inject man)
	if(TARGET kwhy-lab)
		add_dependencies(installed kwhy-lab)
	endif()
endif()

if(KWHY_PORTABLE AND TARGET kwhy)
	set(portable_dir ${PROJECT_BINARY_DIR}/kwhy-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
	add_custom_target(portable ALL
		COMMAND ${PROJECT_SOURCE_DIR}/packaging/make-portable ${PROJECT_BINARY_DIR} ${portable_dir}
		DEPENDS installed VERBATIM)
endif()

# Coverage of a --coverage build (preset coverage): cmake --build --preset coverage --target coverage
find_program(KWHY_GCOVR gcovr)
if(KWHY_GCOVR AND CMAKE_C_FLAGS MATCHES "--coverage")
	add_custom_target(coverage
		COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure --label-exclude project
		COMMAND ${CMAKE_COMMAND} -E make_directory coverage
		COMMAND ${KWHY_GCOVR} --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/src/
			--exclude-throw-branches --html-details coverage/index.html --txt coverage/summary.txt
			--print-summary ${PROJECT_BINARY_DIR}
		WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)
endif()
