# A portable build takes archives where the distribution has them; the rest is bundled (KwhyInstall).
if(KWHY_PORTABLE)
	set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
	set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
	# DT_RPATH, not DT_RUNPATH: it also holds for what the bundled libraries need themselves.
	add_link_options(-Wl,--disable-new-dtags -static-libgcc $<$<LINK_LANGUAGE:CXX>:-static-libstdc++>)
endif()

find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3>=3.36) # sqlite3_serialize()
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(SIMDJSON IMPORTED_TARGET simdjson)
if(NOT SIMDJSON_FOUND) # Ubuntu 22.04 packages it without a .pc file
	find_package(simdjson REQUIRED CONFIG)
	add_library(PkgConfig::SIMDJSON INTERFACE IMPORTED)
	target_link_libraries(PkgConfig::SIMDJSON INTERFACE simdjson::simdjson)
endif()
# An archive without a .pc file, compiled for shared objects, too.
find_path(KWHY_IBERTY_INCLUDE demangle.h PATH_SUFFIXES libiberty REQUIRED)
find_library(KWHY_IBERTY libiberty.a REQUIRED)
pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw)
# Shared in every build for this machine: their archives want udev and TLS, which have none. A portable folder takes them
# along. In the folder of packaging/sysroot an archive of hwloc wants neither.
if(KWHY_PORTABLE AND NOT KWHY_SYSROOT)
	set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
	foreach(name jansson sqlite3 zlib) # what libkwhy-analyse.so needs
		string(TOUPPER ${name} prefix)
		pkg_check_modules(SHARED_${prefix} REQUIRED IMPORTED_TARGET ${name})
	endforeach()
	pkg_check_modules(SHARED_ZSTD REQUIRED IMPORTED_TARGET libzstd)
endif()
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
if(KWHY_PORTABLE)
	set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
endif()
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CURL REQUIRED libcurl) # its header; the library is opened at run time
if(KWHY_TESTS)
	pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
