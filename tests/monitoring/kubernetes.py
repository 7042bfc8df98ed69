#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the manifests for Kubernetes: fields and types of the API (by kubernetes-types and tsc), references between
manifests, that kwhy has the options in them, and that they grant only what is needed. Checks the chart: templates and
values use the same names and, if helm is installed, the chart gives the manifests. Usage: kubernetes.py KWHY SOURCE_DIR
(77: PyYAML is not installed)"""
import copy
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not installed")
    sys.exit(77)

KWHY, SOURCE = sys.argv[1], Path(sys.argv[2])
FOLDER = SOURCE / "monitoring/kubernetes"
MODULES = SOURCE.resolve() / "web/node_modules"
bad = []


def check(holds, what):
    if not holds:
        bad.append(what)


def check_daemon_set(doc):
    spec = doc["spec"]
    template = spec["template"]
    pod = template["spec"]
    labels = template["metadata"]["labels"]
    check(spec["selector"]["matchLabels"].items() <= labels.items(), "the selector is not of the pod's labels")
    check(pod["hostPID"] is True and pod["automountServiceAccountToken"] is False, "hostPID or token of the API")
    check(pod["serviceAccountName"] == doc["metadata"]["name"], "the service account")
    check("privileged" not in yaml.dump(doc), "the pod is privileged")
    (container,) = pod["containers"]
    context = container["securityContext"]
    check(context["allowPrivilegeEscalation"] is False and context["capabilities"] == {"drop": ["ALL"]} and
          context["readOnlyRootFilesystem"] is True, "the container has more rights than it needs")
    for key in ("name", "image", "args", "resources"):
        check(container.get(key), f"the container lacks {key}")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
    check(volumes.keys() == mounts.keys(), f"volumes {set(volumes) ^ set(mounts)} are not mounted or not there")
    for name, volume in volumes.items():
        if "hostPath" in volume:
            check(name == "accounts" or mounts[name].get("readOnly") is True, f"{name} can be written")
            check(name == "accounts" or mounts[name]["mountPath"] == "/host" + volume["hostPath"]["path"], f"{name}: path")
    args = container["args"]
    check(args[0] == "serve", "the command")
    help_text = subprocess.run([KWHY, "help", "serve"], capture_output=True, text=True, check=True).stdout
    for option in (word for word in args if word.startswith("--")):
        check(re.search(rf"{option}\b", help_text), f"kwhy serve has no {option}")
    check(args[args.index("--accounts") + 1].startswith(mounts["accounts"]["mountPath"] + "/"), "where the accounts lie")
    check(args[args.index("--token") + 1].startswith(mounts["token"]["mountPath"] + "/"), "where the token lies")
    check(args[args.index("--listen") + 1] == f":{container['ports'][0]['containerPort']}", "the port")
    return labels, container["ports"][0], volumes["token"]["secret"]["secretName"]


def check_types(docs):
    """Compiles the manifests as values of the API's types, except for the ServiceMonitor, which is of another API. Errors
    that are put into copies must be found."""
    if not (MODULES / "kubernetes-types").is_dir() or not (MODULES / "typescript").is_dir() or not shutil.which("node"):
        print("skipped: types of the API: npm packages of web/ are not installed")
        return
    daemons = next(doc for doc in docs if doc["kind"] == "DaemonSet")
    unknown, wrong, missing = (copy.deepcopy(daemons) for _ in range(3))
    unknown["spec"]["template"]["spec"]["hostPid"] = True
    wrong["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] = "9835"
    del missing["spec"]["selector"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "tsconfig.json").write_text(json.dumps({"compilerOptions": {
            "strict": True, "noEmit": True, "module": "esnext", "moduleResolution": "bundler", "types": [], "paths": {
                "kubernetes-types/*": [f"{MODULES}/kubernetes-types/*"]}}, "files": ["manifests.ts"]}))
        lines = ['import type { DaemonSet } from "kubernetes-types/apps/v1";',
                 'import type { Service, ServiceAccount } from "kubernetes-types/core/v1";']
        lines += [f"export const of{i}: {doc['kind']} = {json.dumps(doc)};" for i, doc in enumerate(docs) if doc["kind"] != "ServiceMonitor"]
        for i, doc in enumerate((unknown, wrong, missing)):
            lines += ["// @ts-expect-error", f"export const wrong{i}: DaemonSet = {json.dumps(doc)};"]
        (place / "manifests.ts").write_text("\n".join(lines) + "\n")
        made = subprocess.run(["node", MODULES / "typescript/bin/tsc", "-p", place], capture_output=True, text=True, check=False)
        check(made.returncode == 0, f"types of the API: {made.stdout}{made.stderr}")


def check_manifests(docs):
    kinds = {doc["kind"]: doc for doc in docs}
    check(set(kinds) == {"ServiceAccount", "DaemonSet", "Service", "ServiceMonitor"}, f"kinds {set(kinds)}")
    versions = {"ServiceAccount": "v1", "DaemonSet": "apps/v1", "Service": "v1",
                "ServiceMonitor": "monitoring.coreos.com/v1"}
    for kind, doc in kinds.items():
        check(doc["apiVersion"] == versions[kind], f"apiVersion of {kind}")
        check(re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", doc["metadata"]["name"]), f"name of {kind}")
        check(doc["metadata"]["namespace"] == docs[0]["metadata"]["namespace"], f"namespace of {kind}")
    labels, port, secret = check_daemon_set(kinds["DaemonSet"])
    service = kinds["Service"]
    check(service["spec"]["selector"].items() <= labels.items(), "the service selects no pod")
    (service_port,) = service["spec"]["ports"]
    check(service_port["targetPort"] == port["name"] and service_port["port"] == port["containerPort"], "port of the service")
    monitor = kinds["ServiceMonitor"]["spec"]
    check(monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items(), "the monitor selects no service")
    (endpoint,) = monitor["endpoints"]
    check(endpoint["port"] == service_port["name"], "port of the monitor")
    check(endpoint["authorization"]["credentials"] == {"name": secret, "key": "token"}, "token of the monitor")


def leaves(values, path=()):
    """Returns the paths of values that templates use. toYaml may use a whole branch."""
    for key, value in values.items():
        if isinstance(value, dict) and value and path + (key,) not in (("nodeSelector",), ("resources",)):
            yield from leaves(value, path + (key,))
        else:
            yield ".".join(path + (key,))


def without_release(value):
    """A document of the chart without what only a chart has: the release's name, and when to pull the image."""
    if isinstance(value, list):
        return [without_release(item) for item in value]
    if isinstance(value, dict):
        return {key: without_release(item) for key, item in value.items() if key not in ("app.kubernetes.io/instance", "imagePullPolicy")}
    return value


def check_chart():
    chart = yaml.safe_load((FOLDER / "chart/Chart.yaml").read_text())
    check(chart["apiVersion"] == "v2" and chart["name"] == "kwhy" and re.fullmatch(r"\d+\.\d+\.\d+", chart["version"]), "Chart.yaml")
    values = yaml.safe_load((FOLDER / "chart/values.yaml").read_text())
    text = "".join(path.read_text() for path in sorted((FOLDER / "chart/templates").glob("*.yaml")))
    named = set(re.findall(r"\.Values\.([A-Za-z.]+)", text))
    check(named == set(leaves(values)), f"values and templates differ in {named ^ set(leaves(values))}")
    check(text.count("{{") == len(re.findall(r"\{\{[^{}]*\}\}", text)), "an action of a template is not closed")
    helm = shutil.which("helm")
    if helm:
        made = subprocess.run([helm, "template", "kwhy", FOLDER / "chart", "--namespace", "kwhy"], capture_output=True,
                              text=True, check=True).stdout
        docs = [doc for doc in yaml.safe_load_all(made) if doc]
        check_manifests(docs)
        plain = {doc["kind"]: without_release(doc) for doc in docs}
        for doc in yaml.safe_load_all((FOLDER / "kwhy.yaml").read_text()):
            check(plain.get(doc["kind"]) == doc, f"{doc['kind']} of the chart differs from that of kwhy.yaml")
    else:
        print("skipped: what helm makes of the chart: helm is not installed")


def check_digest_job():
    job = yaml.safe_load((FOLDER / "digest-job.yaml").read_text())
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    settings = {row["name"]: row.get("value") for row in container["env"]}
    check(job["apiVersion"] == "batch/v1" and job["kind"] == "Job" and spec["completionMode"] == "Indexed", "the Job is not indexed")
    check(settings["TASKS"] == str(spec["completions"]), "TASKS is not the number of completions")
    check(pod["restartPolicy"] in ("Never", "OnFailure"), "the Job's pods restart always")
    named = set(re.findall(r"\$\((\w+)\)", " ".join(container["args"])))
    check(named == {"INDEX", "TASKS", "FOLDER"} and named <= set(settings), "variables of the arguments")
    options = subprocess.run([KWHY, container["args"][0], "--help"], capture_output=True, text=True, check=True).stdout
    check(all(word in options for word in container["args"] if word.startswith("-")), "options of the command")
    check({row["name"] for row in container["volumeMounts"]} == {row["name"] for row in pod["volumes"]}, "volumes of the Job")
    check(container["securityContext"]["capabilities"] == {"drop": ["ALL"]} and pod["securityContext"]["runAsNonRoot"] is True, "rights of the Job")


MANIFESTS = list(yaml.safe_load_all((FOLDER / "kwhy.yaml").read_text()))
check_manifests(MANIFESTS)
check_types(MANIFESTS)
check_chart()
check_digest_job()
print("\n".join(bad))
sys.exit(bool(bad))
