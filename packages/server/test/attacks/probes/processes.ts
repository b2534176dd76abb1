import { noPermission, type ValProbe } from "./val-probe.ts"

const { run, ffi, sys } = noPermission
const anyFfi = /^NotCapable: Cannot load native code: a val cannot load native code/
const noSignal =
  /^NotCapable: Cannot send SIGKILL to process 1: a val shares its process with other runs$/
const anyRun = /^NotCapable: Cannot start or control a program: /
/** Node's error about a process that it starts says only how that process ended. */
const noChild = /^(Error|NotCapable): Cannot start "/

/**
 * Other programs, native code, signals, other users, and other ways in which a process could harm
 * the machine.
 */
export const processProbes: readonly ValProbe[] = [
  {
    tries: "to run a shell",
    code: `return await new Deno.Command("sh", { args: ["-c", "id"] }).output()`,
    denied: /^(NotCapable|NotFound): Cannot start "sh": a val cannot start programs/,
  },
  {
    tries: "to run a shell by its path",
    code: `return new Deno.Command("/bin/sh", { args: ["-c", "id"] }).outputSync()`,
    denied: run,
  },
  {
    tries: "to run deno with every permission",
    code: `return new Deno.Command("/deno", { args: ["run", "-A", "x.ts"] }).spawn().pid`,
    denied: run,
  },
  {
    tries: "to spawn a program as Node does",
    code: `const { stdout, pid, status } = (await import("node:child_process")).spawnSync("/bin/sh", ["-c", "id"]); return [stdout ?? null, pid ?? null, status ?? null]`,
    gets: [null, null, null],
  },
  {
    tries: "to run a line of shell as Node does",
    code: `return await new Promise((resolve, reject) => { import("node:child_process").then(({ exec }) => exec("id", (error, stdout) => error ? reject(error) : resolve(stdout))) })`,
    denied: noChild,
  },
  {
    tries: "to fork itself as Node does",
    code: `Deno.writeTextFileSync("/tmp/fork.js", ""); return await new Promise((resolve, reject) => { import("node:child_process").then(({ fork }) => { const child = fork("/tmp/fork.js", { execPath: "/deno" }); child.once("error", reject); child.once("spawn", () => resolve(child.pid)) }).catch(reject) })`,
    denied: noChild,
  },
  {
    tries: "to write a program to /tmp and run it",
    code: `Deno.writeTextFileSync("/tmp/evil", "#!/bin/sh\\nid", { mode: 0o755 }); return new Deno.Command("/tmp/evil").outputSync()`,
    denied: run,
  },
  {
    tries: "to run a program with LD_PRELOAD",
    code: `return new Deno.Command("/deno", { env: { LD_PRELOAD: "/tmp/evil.so" } }).outputSync()`,
    denied: anyRun,
  },
  {
    tries: "to read the host's files from a worker thread",
    code: `const { Worker } = await import("node:worker_threads")
const worker = new Worker("const { parentPort } = require('node:worker_threads'); try { parentPort.postMessage(require('node:fs').readFileSync('/etc/passwd', 'utf8')) } catch (error) { parentPort.postMessage(error.name + ': ' + error.message) }", { eval: true })
const answer = await new Promise((resolve, reject) => { worker.once("message", resolve); worker.once("error", reject) })
await worker.terminate()
throw Object.assign(new Error(), { name: "worker", message: answer })`,
    denied: /^worker: NotFound: Cannot read "\/etc\/passwd": no such file or directory/,
  },
  {
    tries: "to load the host's files through a folder called node_modules",
    code: `const { createRequire } = await import("node:module")
Deno.mkdirSync("/tmp/node_modules", { recursive: true })
return createRequire("/tmp/a.js")("/tmp/node_modules/../../etc/passwd")`,
    denied: /Cannot find module|Cannot read "/,
  },
  {
    tries: "to read the host's files from a worker that inherits its permissions",
    code: `const worker = new Worker("data:application/javascript,postMessage(Deno.readTextFileSync('/etc/passwd'))", { type: "module" })
return await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } })`,
    denied: /^Error: Uncaught \(in promise\) NotFound: Cannot read "\/etc\/passwd"/,
  },
  {
    tries: "to get the network back in a worker",
    code: `const worker = new Worker("data:application/javascript,Deno.connect({transport:'unix',path:'/run/val/in.sock'}).then(()=>postMessage('connected'),(error)=>postMessage(error.name+': '+error.message))", { type: "module" })
const answer = await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } })
throw Object.assign(new Error(), { name: "worker", message: answer })`,
    denied: /^worker: NotCapable: Cannot connect to "\/run\/val\/in\.sock": /,
  },
  {
    tries: "to read the host's files from a worker with the permissions that it names as inherited",
    code: `const worker = new Worker("data:application/javascript,postMessage(Deno.readTextFileSync('/etc/passwd'))", { type: "module", deno: { permissions: "inherit" } })
return await new Promise((resolve, reject) => { worker.onmessage = ({ data }) => resolve(data); worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } })`,
    denied: /^Error: Uncaught \(in promise\) NotFound: Cannot read "\/etc\/passwd"/,
  },
  {
    tries: "to give a worker more permissions than it has itself",
    code: `new Worker("data:application/javascript,postMessage(Deno.readTextFileSync('/etc/passwd'))", { type: "module", deno: { permissions: { read: true, net: true, run: true, ffi: true } } }); await new Promise(() => {})`,
    denied: /^TypeError: Cannot start a Worker with permissions of its own: /,
  },
  // Deno exits at once when code uses an unstable feature that was not enabled.
  {
    tries: "to give a worker more permissions after the guest has looked",
    code: `let looks = 0; const options = { type: "module", get deno() { return ++looks < 2 ? undefined : { permissions: { read: true } } } }
new Worker("data:application/javascript,postMessage(Deno.readTextFileSync('/etc/passwd'))", options); await new Promise(() => {})`,
    ends: /^crashed /,
  },
  {
    tries: "to load the C library",
    code: `return Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } }).symbols.getpid()`,
    denied: ffi,
  },
  {
    tries: "to load deno itself as a library",
    code: `return Object.keys(Deno.dlopen("/deno", {}))`,
    denied: ffi,
  },
  {
    tries: "to load a library that it has written",
    code: `Deno.writeFileSync("/tmp/evil.so", new Uint8Array([127, 69, 76, 70])); return Object.keys(Deno.dlopen("/tmp/evil.so", {}))`,
    denied: ffi,
  },
  {
    tries: "to load a native module as Node does",
    code: `const module = { exports: {} }; (await import("node:process")).default.dlopen(module, "/tmp/evil.node"); return module.exports`,
    denied: ffi,
  },
  {
    tries: "to require a native module",
    code: `Deno.writeFileSync("/tmp/evil.node", new Uint8Array([127, 69, 76, 70])); return (await import("node:module")).createRequire("file:///tmp/x.js")("/tmp/evil.node")`,
    denied: ffi,
  },
  {
    tries: "to load an extension into SQLite",
    code: `const { DatabaseSync } = await import("node:sqlite"); const db = new DatabaseSync(":memory:", { allowExtension: true }); db.loadExtension("/tmp/evil.so")`,
    denied: anyFfi,
  },
  {
    tries: "to make a pointer to any address in memory",
    code: `return new Deno.UnsafePointerView(Deno.UnsafePointer.create(4096n)).getUint32()`,
    denied: anyFfi,
  },
  {
    tries: "to read memory as a C string",
    code: `return Deno.UnsafePointerView.getCString(Deno.UnsafePointer.create(4096n))`,
    denied: anyFfi,
  },
  {
    tries: "to make a callback for native code",
    code: `return new Deno.UnsafeCallback({ parameters: [], result: "void" }, () => {}).pointer`,
    denied: anyFfi,
  },
  {
    tries: "to use a graphics card",
    code: `return (await navigator.gpu?.requestAdapter()) ?? null`,
    gets: null,
  },
  // The guest is process 1 of its PID namespace, which the kernel does not let its own processes
  // kill.
  { tries: "to kill process 1", code: `Deno.kill(1, "SIGKILL")`, denied: noSignal },
  { tries: "to kill every process there is", code: `Deno.kill(-1, "SIGKILL")`, denied: anyRun },
  {
    tries: "to kill process 1 as Node does",
    code: `(await import("node:process")).default.kill(1, "SIGKILL")`,
    denied: noSignal,
  },
  {
    tries: "to kill its whole group as Node does",
    code: `(await import("node:process")).default.kill(0, "SIGKILL")`,
    denied: anyRun,
  },
  {
    tries: "to see which processes exist by asking with signal 0",
    code: `const process = (await import("node:process")).default; return Array.from({ length: 40 }, (_, pid) => { try { return process.kill(pid + 1, 0) } catch (error) { return error.name } }).flatMap((seen, pid) => seen === true ? [pid + 1] : [])`,
    gets: [1],
  },
  {
    tries: "to attach a debugger to another process",
    code: `return (await import("node:process")).default._debugProcess(1)`,
    gets: "nothing",
  },
  {
    tries: "to open a port for a debugger",
    code: `const inspector = await import("node:inspector"); inspector.open(0, "127.0.0.1"); return inspector.url()`,
    denied: /^Error: Failed to start inspector server/,
  },
  {
    tries: "to become root",
    code: `(await import("node:process")).default.setuid(0)`,
    denied: sys,
  },
  { tries: "to find out who it is", code: `return Deno.uid()`, gets: 1000 },
  { tries: "to find out the name of the machine", code: `return Deno.hostname()`, gets: "val" },
  {
    tries: "to find out the name of the machine as Node does",
    code: `return (await import("node:os")).hostname()`,
    gets: "val",
  },
  {
    tries: "to find out the addresses of the machine",
    code: `return Deno.networkInterfaces().map(({ address }) => address)`,
    gets: ["127.0.0.1"],
  },
  {
    tries: "to find out the memory of the machine",
    code: `return Deno.systemMemoryInfo().total`,
    gets: 256 * 1024 ** 2,
  },
  {
    tries: "to find out the user, the cores and the kernel of the server",
    code: `const { userInfo, homedir, cpus, release } = await import("node:os"); return [userInfo().username, homedir(), cpus().length, release()]`,
    gets: ["val", "/tmp", 2, "6.1.0"],
  },
  {
    tries: "to raise its priority",
    code: `(await import("node:os")).setPriority(0, -20)`,
    denied: sys,
  },
  {
    tries: "to leave its folder",
    code: `Deno.chdir("/"); return Deno.cwd()`,
    denied: noPermission.read,
  },
  {
    tries: "to reach files with WASI",
    code: `const { WASI } = await import("node:wasi"); return typeof new WASI({ version: "preview1", preopens: { "/": "/" } }).start`,
    denied: /^Error: uvwasi_init: failed to open preopen/,
  },
  {
    tries: "to get out of a vm context",
    code: `const vm = await import("node:vm"); return vm.runInNewContext("this.constructor.constructor('return Deno')()").readTextFileSync("/etc/passwd")`,
    denied: noPermission.read,
  },
  {
    tries: "to write a report about the machine",
    code: `return (await import("node:process")).default.report.writeReport("/tmp/report.json")`,
    gets: "",
  },
  {
    tries: "to get at bindings of Node",
    code: `return Object.keys((await import("node:process")).default.binding("spawn_sync"))`,
    gets: [],
  },
  {
    tries: "to become a cluster",
    code: `return await new Promise((resolve, reject) => { import("node:cluster").then(({ default: cluster }) => { cluster.setupPrimary({ exec: "/tmp/x.js" }); const worker = cluster.fork(); worker.once("error", reject); worker.once("online", () => resolve("online")) }).catch(reject) })`,
    denied: noChild,
  },
  {
    tries: "to read what the machine is called from the environment of the server",
    code: `return [Deno.env.get("HOSTNAME") ?? null, Deno.env.get("PATH"), Deno.env.get("USER") ?? null, Deno.env.get("HOME")]`,
    gets: [null, "/usr/bin:/bin", null, "/tmp"],
  },
  {
    tries: "to turn on what V8 forbids",
    code: `(await import("node:v8")).setFlagsFromString("--allow-natives-syntax"); return new Function("return %GetOptimizationStatus(() => 1)")() > 0`,
    denied: /^SyntaxError: /,
  },
  {
    tries: "to be granted a permission by asking for it",
    code: `return (await Deno.permissions.request({ name: "read" })).state`,
    gets: "denied",
  },
  {
    tries: "to find a permission that it should not have",
    code: `const names = ["read", "write", "net", "run", "ffi", "sys", "import"]; return (await Promise.all(names.map(async (name) => [name, (await Deno.permissions.query({ name })).state]))).filter(([, state]) => state === "granted")`,
    // The sandbox has no network; everything goes through the egress socket.
    gets: [["net", "granted"]],
  },
]
