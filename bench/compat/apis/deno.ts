import { type ApiGroup, toChecks } from "../api-check.ts"

/** The namespace `Deno`. */
export const denoNamespace: ApiGroup = {
  title: "Deno",
  imports: "",
  checks: toChecks(String.raw`
Deno.env.get and has | typeof Deno.env.get("PATH") !== "number" && Deno.env.has("NOT_THERE") === false
Deno.env.set and delete | (Deno.env.set("COMPAT", "1"), Deno.env.get("COMPAT") === "1" && process.env.COMPAT === "1") && (Deno.env.delete("COMPAT"), Deno.env.get("COMPAT") === undefined)
Deno.env.toObject | typeof Deno.env.toObject() === "object"
Deno.makeTempDir and readDir | const folder = await Deno.makeTempDir(); await Deno.writeTextFile(folder + "/a", "x"); return (await Array.fromAsync(Deno.readDir(folder))).length === 1
Deno.makeTempFile | (await Deno.stat(await Deno.makeTempFile())).size === 0
Deno.readFile and writeFile | (await Deno.writeFile(dir + "/a.bin", new Uint8Array([1, 2])), (await Deno.readFile(dir + "/a.bin")).length) === 2
Deno.readTextFileSync | (Deno.writeTextFileSync(dir + "/a.txt", "hi"), Deno.readTextFileSync(dir + "/a.txt")) === "hi"
Deno.open, seek and truncate | const file = await Deno.open(dir + "/o", { create: true, read: true, write: true }); await file.write(new TextEncoder().encode("abc")); await file.seek(1, Deno.SeekMode.Start); await file.truncate(2); const bytes = new Uint8Array(9); const read = await file.read(bytes); file.close(); return read === 1
Deno.mkdir, rename, remove | (await Deno.mkdir(dir + "/m/n", { recursive: true }), await Deno.rename(dir + "/m", dir + "/q"), await Deno.remove(dir + "/q", { recursive: true }), true)
Deno.copyFile, stat, utime | (await Deno.writeTextFile(dir + "/c1", "x"), await Deno.copyFile(dir + "/c1", dir + "/c2"), await Deno.utime(dir + "/c2", 1, 1), (await Deno.stat(dir + "/c2")).mtime.getTime()) === 1000
Deno.chmod | (await Deno.writeTextFile(dir + "/ch", "x"), await Deno.chmod(dir + "/ch", 0o600), ((await Deno.stat(dir + "/ch")).mode & 0o777) === 0o600)
Deno.symlink and realPath | (await Deno.writeTextFile(dir + "/s1", "x"), await Deno.remove(dir + "/s2").catch(() => {}), await Deno.symlink(dir + "/s1", dir + "/s2"), await Deno.realPath(dir + "/s2")) === await Deno.realPath(dir + "/s1")
Deno.watchFs | const watcher = Deno.watchFs(dir); setTimeout(() => Deno.writeTextFileSync(dir + "/w", "x"), 20); for await (const event of watcher) { watcher.close(); return event.paths.length > 0 }
Deno.cwd and chdir | (Deno.chdir(dir), Deno.cwd().length > 1)
Deno.connect | const connection = await Deno.connect({ hostname: tcp[0], port: tcp[1] }); await connection.write(new TextEncoder().encode("hi")); const bytes = new Uint8Array(9); const read = await connection.read(bytes); connection.close(); return read === 2
Deno.connectTls | const connection = await Deno.connectTls({ hostname: tlsAddress[0], port: tlsAddress[1], caCerts: [ca] }); await connection.write(new TextEncoder().encode("hi")); const read = await connection.read(new Uint8Array(9)); connection.close(); return read === 2
Deno.startTls | const connection = await Deno.startTls(await Deno.connect({ hostname: tlsAddress[0], port: tlsAddress[1] }), { hostname: tlsAddress[0], caCerts: [ca] }); await connection.write(new TextEncoder().encode("hi")); const read = await connection.read(new Uint8Array(9)); connection.close(); return read === 2
Deno.listen | const listener = Deno.listen({ port: 0 }); listener.close(); return true
Deno.listenDatagram | const socket = Deno.listenDatagram({ port: 0, transport: "udp" }); socket.close(); return true
Deno.resolveDns | (await Deno.resolveDns("localhost", "A")).length > 0
Deno.createHttpClient | const client = Deno.createHttpClient({ caCerts: [ca] }); const { path } = await (await fetch(https + "/c", { client })).json(); client.close(); return path === "/c"
Deno.Command | (await new Deno.Command("true").output()).success
Deno.dlopen | (Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } }).symbols.getpid() > 0)
Deno.hostname | typeof Deno.hostname() === "string"
Deno.osRelease | typeof Deno.osRelease() === "string"
Deno.osUptime | typeof Deno.osUptime() === "number"
Deno.loadavg | Deno.loadavg().length === 3
Deno.networkInterfaces | Array.isArray(Deno.networkInterfaces())
Deno.systemMemoryInfo | Deno.systemMemoryInfo().total > 0
Deno.memoryUsage | Deno.memoryUsage().heapUsed > 0
Deno.uid and gid | Number.isInteger(Deno.uid()) && Number.isInteger(Deno.gid())
Deno.pid and ppid | Deno.pid > 0 && Deno.ppid >= 0
Deno.execPath | typeof Deno.execPath() === "string"
Deno.version and build | Deno.version.deno.startsWith("2.") && Deno.build.os === "linux"
Deno.args and mainModule | Array.isArray(Deno.args) && typeof Deno.mainModule === "string"
Deno.addSignalListener | (() => { const listener = () => {}; Deno.addSignalListener("SIGUSR1", listener); Deno.removeSignalListener("SIGUSR1", listener); return true })()
Deno.kill | (Deno.kill(Deno.pid, 0), true)
Deno.inspect | Deno.inspect({ a: [1] }) === "{ a: [ 1 ] }"
Deno.errors | (await Deno.readFile(dir + "/none").catch((error) => error)) instanceof Deno.errors.NotFound
Deno.permissions.query | typeof (await Deno.permissions.query({ name: "env" })).state === "string"
Deno.stdout | (await Deno.stdout.write(new TextEncoder().encode("\n"))) === 1
Deno.stdin | typeof Deno.stdin.isTerminal() === "boolean"
Deno.umask | typeof Deno.umask() === "number"
Deno.refTimer and unrefTimer | (() => { const timer = setTimeout(() => {}, 60_000); Deno.unrefTimer(timer); clearTimeout(timer); return true })()
Deno.cron | Deno.cron("a", "* * * * *", () => {}) !== undefined
Deno.openKv | typeof (await Deno.openKv(":memory:")).get === "function"
Deno.upgradeWebSocket | typeof Deno.upgradeWebSocket === "function"
Deno.readFile outside of /tmp | (await Deno.readTextFile("/etc/os-release")).length > 0
`),
}
