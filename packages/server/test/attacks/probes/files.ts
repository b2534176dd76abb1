import { noPermission, type ValProbe } from "./val-probe.ts"

const { read, write } = noPermission
/**
 * Without a permission, or with one for a folder in which there is no such thing inside of the
 * sandbox.
 */
const hidden = /^(NotCapable: Cannot write to |NotFound: )/
const noModule = /^TypeError: (Module not found|Requires read access to) "/
const noLink = /^NotCapable: Cannot create a link: a val can create only files and folders$/
const readOrWrite = /^(NotFound: Cannot read |NotCapable: Cannot write to )/

/** Files of the host, of other vals and of the sandbox itself. */
export const fileProbes: readonly ValProbe[] = [
  {
    tries: "to read /etc/passwd",
    code: `return await Deno.readTextFile("/etc/passwd")`,
    denied: read,
  },
  {
    tries: "to read /etc/shadow in a synchronous way",
    code: `return Deno.readTextFileSync("/etc/shadow")`,
    denied: read,
  },
  {
    tries: "to read /etc/passwd by a file: address",
    code: `return await Deno.readTextFile(new URL("file:///etc/passwd"))`,
    denied: read,
  },
  {
    tries: "to read /etc/passwd as Node does",
    code: `return (await import("node:fs")).readFileSync("/etc/passwd", "utf8")`,
    denied: read,
  },
  {
    tries: "to read /etc/passwd with promises of Node",
    code: `return await (await import("node:fs/promises")).readFile("/etc/passwd", "utf8")`,
    denied: read,
  },
  {
    tries: "to open /etc/passwd as a stream",
    code: `return (await Deno.open("/etc/passwd")).readable.getReader().read()`,
    denied: read,
  },
  {
    tries: "to get at /etc/passwd out of its own folder with ..",
    code: `return await Deno.readTextFile("/tmp/../etc/passwd")`,
    denied: read,
  },
  {
    tries: "to fool the check of paths with a NUL",
    code: `return await Deno.readTextFile("/etc/passwd\\0/tmp/x")`,
    denied: read,
  },
  {
    tries: "to list /",
    code: `return Array.from(Deno.readDirSync("/"), (entry) => entry.name)`,
    denied: read,
  },
  {
    tries: "to list /root",
    code: `return Array.from(Deno.readDirSync("/root"), (entry) => entry.name)`,
    denied: read,
  },
  {
    tries: "to list /home",
    code: `return Array.from(Deno.readDirSync("/home"), (entry) => entry.name)`,
    denied: read,
  },
  {
    tries: "to list the processes in /proc",
    code: `return Array.from(Deno.readDirSync("/proc"), (entry) => entry.name)`,
    denied: hidden,
  },
  {
    tries: "to read its own /proc/self/environ",
    code: `return await Deno.readTextFile("/proc/self/environ")`,
    denied: hidden,
  },
  {
    tries: "to read /proc/1/root/etc/passwd",
    code: `return await Deno.readTextFile("/proc/1/root/etc/passwd")`,
    denied: hidden,
  },
  {
    tries: "to read the memory map of its process",
    code: `return await Deno.readTextFile("/proc/self/maps")`,
    denied: hidden,
  },
  {
    tries: "to write to the memory of its process",
    code: `(await Deno.open("/proc/self/mem", { write: true })).writeSync(new Uint8Array(8))`,
    denied: hidden,
  },
  {
    tries: "to list its open files",
    code: `return Array.from(Deno.readDirSync("/proc/self/fd"), (entry) => entry.name)`,
    denied: hidden,
  },
  {
    tries: "to read the network of the machine in /sys",
    code: `return Array.from(Deno.readDirSync("/sys/class/net"), (entry) => entry.name)`,
    denied: read,
  },
  {
    tries: "to raise its own limit in /sys/fs/cgroup",
    code: `Deno.writeTextFileSync("/sys/fs/cgroup/memory/memory.limit_in_bytes", "-1")`,
    denied: write,
  },
  {
    tries: "to read the database of the server",
    code: ({ dataDir }) => `return (await Deno.readFile("${dataDir}/hamlet.db")).length`,
    denied: hidden,
  },
  {
    tries: "to read the key of all secrets",
    code: ({ dataDir }) => `return await Deno.readTextFile("${dataDir}/secret.key")`,
    denied: hidden,
  },
  {
    tries: "to write into the data folder",
    code: ({ dataDir }) => `await Deno.writeTextFile("${dataDir}/evil", "x")`,
    denied: hidden,
  },
  {
    tries: "to open the database of the server with node:sqlite",
    code: ({ dataDir }) =>
      `const { DatabaseSync } = await import("node:sqlite"); return new DatabaseSync("${dataDir}/hamlet.db").prepare("select * from tokens").all()`,
    denied:
      /^(NotFound: Cannot read |NotCapable: Cannot write to |Error: unable to open database file)/,
  },
  {
    tries: "to attach the database of the server to one in memory",
    code: ({ dataDir }) =>
      `const { DatabaseSync } = await import("node:sqlite"); const db = new DatabaseSync(":memory:"); db.exec("attach '${dataDir}/hamlet.db' as host"); return db.prepare("select * from host.tokens").all()`,
    denied: /^Error: too many attached databases - max 0$/,
  },
  {
    tries: "to write a file by way of VACUUM INTO",
    code: `const { DatabaseSync } = await import("node:sqlite"); const db = new DatabaseSync(":memory:"); db.exec("create table t (x); vacuum into '/run/val/evil'")`,
    denied: /^Error: too many attached databases - max 0$/,
  },
  {
    tries: "to read the program of the server",
    code: ({ program }) => `return await Deno.readTextFile("${program}")`,
    // In a checkout under /tmp the val may look, but its /tmp is another one.
    denied: /^NotFound: /,
  },
  {
    tries: "to replace the deno that runs it",
    code: `Deno.writeTextFileSync("/deno", "x")`,
    denied: write,
  },
  {
    tries: "to replace the program of the guest",
    code: `Deno.writeTextFileSync("/guest.js", "x")`,
    denied: write,
  },
  {
    tries: "to read the program of the guest",
    code: `return Deno.readTextFileSync("/guest.js")`,
    denied: read,
  },
  {
    tries: "to put a package where its own are",
    code: `Deno.writeTextFileSync("/deno-dir/packages/${"0".repeat(64)}.js", "module.exports = []")`,
    denied: write,
  },
  {
    tries: "to remove the folder of its packages",
    code: `Deno.removeSync("/deno-dir/packages", { recursive: true })`,
    denied: write,
  },
  {
    tries: "to have something else read as a package",
    code: `return globalThis[Symbol.for("hamlet.packages")]("../../../etc/passwd", 0)`,
    denied: /^TypeError: Cannot find the package: it needs a hash and a number/,
  },
  {
    tries: "to put a module into the cache",
    code: `Deno.mkdirSync("/deno-dir/remote/http", { recursive: true })`,
    denied: write,
  },
  {
    tries: "to look through the cache of modules",
    code: `return Array.from(Deno.readDirSync("/deno-dir"), (entry) => entry.name)`,
    denied: read,
  },
  {
    tries: "to list the folder that it shares with the host",
    code: `return Array.from(Deno.readDirSync("/run/val"), (entry) => entry.name)`,
    denied: read,
  },
  {
    tries: "to put a file into the folder that it shares with the host",
    code: `Deno.writeTextFileSync("/run/val/evil", "x")`,
    denied: write,
  },
  { tries: "to remove its own socket", code: `Deno.removeSync("/run/val/in.sock")`, denied: write },
  {
    tries: "to move its own socket",
    code: `Deno.renameSync("/run/val/in.sock", "/run/val/out.sock")`,
    denied: readOrWrite,
  },
  {
    tries: "to put a link to /etc/passwd where its socket is",
    code: `Deno.symlinkSync("/etc/passwd", "/run/val/control.sock")`,
    denied: noLink,
  },
  {
    tries: "to look into the folder of a neighbour",
    code: ({ neighbourFolder }) =>
      `return Array.from(Deno.readDirSync("${neighbourFolder}"), (entry) => entry.name)`,
    denied: hidden,
  },
  {
    tries: "to read the code of a neighbour from its cache",
    code: ({ neighbourFolder }) =>
      `return Array.from(Deno.readDirSync("${neighbourFolder}/deno/remote"), (entry) => entry.name)`,
    denied: hidden,
  },
  {
    tries: "to read /etc/passwd through a symbolic link in /tmp",
    code: `Deno.symlinkSync("/etc/passwd", "/tmp/link"); return Deno.readTextFileSync("/tmp/link")`,
    denied: noLink,
  },
  {
    tries: "to read / through a link that Node makes",
    code: `const fs = await import("node:fs"); fs.symlinkSync("../../..", "/tmp/up", "dir"); return fs.readdirSync("/tmp/up")`,
    denied: noLink,
  },
  {
    tries: "to write to the root through a link in /tmp",
    code: `Deno.symlinkSync("/", "/tmp/root", { type: "dir" }); Deno.writeTextFileSync("/tmp/root/evil", "x")`,
    denied: noLink,
  },
  {
    tries: "to link /etc/passwd into /tmp",
    code: `Deno.linkSync("/etc/passwd", "/tmp/hard"); return Deno.readTextFileSync("/tmp/hard")`,
    denied: readOrWrite,
  },
  {
    tries: "to copy /etc/passwd into /tmp",
    code: `Deno.copyFileSync("/etc/passwd", "/tmp/copy"); return Deno.readTextFileSync("/tmp/copy")`,
    denied: read,
  },
  {
    tries: "to move a file out of /tmp",
    code: `Deno.writeTextFileSync("/tmp/a", "x"); Deno.renameSync("/tmp/a", "/evil")`,
    denied: write,
  },
  {
    tries: "to make a temporary folder elsewhere",
    code: `return Deno.makeTempDirSync({ dir: "/dev/shm" })`,
    denied: write,
  },
  {
    tries: "to write to shared memory",
    code: `Deno.writeFileSync("/dev/shm/evil", new Uint8Array(1024))`,
    denied: write,
  },
  {
    tries: "to open the memory of the machine",
    code: `return Deno.openSync("/dev/mem").readSync(new Uint8Array(8))`,
    denied: readOrWrite,
  },
  {
    tries: "to open a terminal",
    code: `return Deno.openSync("/dev/ptmx", { read: true, write: true }).isTerminal()`,
    denied: readOrWrite,
  },
  { tries: "to give itself the root folder", code: `Deno.chownSync("/", 0, 0)`, denied: write },
  {
    tries: "to watch the files of the host",
    code: `return Deno.watchFs("/etc").rid`,
    denied: read,
  },
  {
    tries: "to find out where links of the host lead",
    code: `return Deno.realPathSync("/lib")`,
    denied: read,
  },
  {
    tries: "to see whether a file of the host exists",
    code: `return Deno.statSync("/etc/passwd").size`,
    denied: read,
  },
  {
    tries: "to fetch a file: address",
    code: `return await (await fetch("file:///etc/passwd")).text()`,
    denied: read,
  },
  {
    tries: "to import a file of the host",
    code: `return await import("file:///etc/passwd")`,
    denied: noModule,
  },
  {
    tries: "to import a file of the host as JSON",
    code: `return (await import("file:///etc/passwd", { with: { type: "json" } })).default`,
    denied: noModule,
  },
  {
    tries: "to import a file of the host as text",
    code: `return (await import("file:///etc/passwd", { with: { type: "text" } })).default`,
    denied: noModule,
  },
  {
    tries: "to start the program of the guest a second time",
    code: `return Object.keys(await import("file:///guest.js?again"))`,
    denied: /^TypeError: Requires read access to "\/guest\.js"/,
  },
  {
    tries: "to require a file of the host",
    code: `return (await import("node:module")).createRequire("file:///tmp/x.js")("/etc/passwd")`,
    denied: /^(NotFound: Cannot read |Error: )/,
  },
  {
    tries: "to write a snapshot of the heap elsewhere",
    code: `return (await import("node:v8")).writeHeapSnapshot("/run/val/heap")`,
    denied: /^(NotCapable: Cannot write to |NotImplementedError|Error: Not implemented)/,
  },
  {
    tries: "to learn from its own address where the program is on the host",
    code: `return [Deno.mainModule === import.meta.url, import.meta.filename ?? null, import.meta.dirname ?? null, Deno.args.length]`,
    gets: [true, null, null, 0],
  },
  { tries: "to learn the folder that it was started in", code: `return Deno.cwd()`, gets: "/tmp" },
  { tries: "to learn where deno is on the host", code: `return Deno.execPath()`, gets: "deno" },
]
