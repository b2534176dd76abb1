import { type ApiGroup, toChecks } from "../api-check.ts"

/** The modules of Node.js for files, systems and bytes. */
export const nodeSystem: ApiGroup = {
  title: "node: files, system, bytes",
  imports: `import * as fs from "node:fs"
import * as fsp from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as nodeCrypto from "node:crypto"
import * as zlib from "node:zlib"
import * as stream from "node:stream"
import { pipeline } from "node:stream/promises"
import { Buffer } from "node:buffer"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"`,
  checks: toChecks(String.raw`
node:fs readFileSync and writeFileSync | (fs.writeFileSync(dir + "/n1", "hi"), fs.readFileSync(dir + "/n1", "utf8")) === "hi"
node:fs existsSync | fs.existsSync("/tmp") === true && fs.existsSync("/no/such/path") === false && typeof fs.existsSync("/etc/passwd") === "boolean"
node:fs createReadStream | (await pipeline(stream.Readable.from(["a", "b"]), fs.createWriteStream(dir + "/n2")), (await Array.fromAsync(fs.createReadStream(dir + "/n2", "utf8"))).join("")) === "ab"
node:fs mkdtempSync, readdirSync, rmSync | (() => { const folder = fs.mkdtempSync(dir + "/n-"); fs.writeFileSync(folder + "/a", ""); const names = fs.readdirSync(folder); fs.rmSync(folder, { recursive: true }); return names.length === 1 })()
node:fs statSync, accessSync | (fs.accessSync("/tmp"), fs.statSync("/tmp").isDirectory())
node:fs watch | (await new Promise((resolve) => { const watcher = fs.watch(dir, () => { watcher.close(); resolve(1) }); setTimeout(() => fs.writeFileSync(dir + "/nw", "x"), 20) })) === 1
node:fs callback | (await new Promise((resolve, reject) => fs.writeFile(dir + "/n3", "x", (error) => error ? reject(error) : resolve(1)))) === 1
node:fs/promises | (await fsp.writeFile(dir + "/n4", "hi"), await fsp.appendFile(dir + "/n4", "!"), await fsp.readFile(dir + "/n4", "utf8")) === "hi!"
node:fs/promises cp and open | const handle = await fsp.open(dir + "/n5", "w"); await handle.writeFile("x"); await handle.close(); await fsp.cp(dir + "/n5", dir + "/n6"); return (await fsp.stat(dir + "/n6")).size === 1
node:path | path.join("a", "..", "b") === "b" && path.win32.basename("a\\b") === "b"
node:os hostname | typeof os.hostname() === "string"
node:os cpus | os.cpus().length >= 1 && os.availableParallelism() >= 1
node:os homedir and tmpdir | os.homedir().startsWith("/") && os.tmpdir().startsWith("/")
node:os userInfo | typeof os.userInfo().username === "string"
node:os release, version, machine | typeof os.release() === "string" && typeof os.version() === "string" && typeof os.machine() === "string"
node:os totalmem, freemem, loadavg | os.totalmem() > 0 && os.freemem() > 0 && os.loadavg().length === 3
node:os uptime | os.uptime() >= 0
node:os uptime of the default export | os.default.uptime() >= 0
process.loadEnvFile | (fs.writeFileSync(dir + "/env", "COMPAT_LOADED='a b'"), process.loadEnvFile(dir + "/env"), process.env.COMPAT_LOADED) === "a b"
node:os networkInterfaces | typeof os.networkInterfaces() === "object"
node:os platform, arch, EOL | os.platform() === "linux" && os.arch().length > 0 && os.EOL === "\n"
node:crypto createHash | nodeCrypto.createHash("md5").update("a").digest("hex").startsWith("0cc175b9")
node:crypto createHmac | nodeCrypto.createHmac("sha256", "k").update("a").digest().length === 32
node:crypto randomBytes, randomInt | nodeCrypto.randomBytes(8).length === 8 && nodeCrypto.randomInt(5) < 5
node:crypto scrypt, pbkdf2, hkdf | nodeCrypto.scryptSync("a", "b", 16).length === 16 && nodeCrypto.pbkdf2Sync("a", "b", 1, 16, "sha256").length === 16 && nodeCrypto.hkdfSync("sha256", "a", "b", "c", 16).byteLength === 16
node:crypto createCipheriv | (() => { const cipher = nodeCrypto.createCipheriv("aes-256-gcm", Buffer.alloc(32), Buffer.alloc(12)); return cipher.update("a", "utf8", "hex").length + cipher.final("hex").length + cipher.getAuthTag().length })() === 18
node:crypto generateKeyPairSync, sign, verify | (() => { const { privateKey, publicKey } = nodeCrypto.generateKeyPairSync("ed25519"); return nodeCrypto.verify(null, Buffer.from("a"), publicKey, nodeCrypto.sign(null, Buffer.from("a"), privateKey)) })()
node:crypto X509Certificate | new nodeCrypto.X509Certificate(ca).subject.length > 0
node:crypto timingSafeEqual | nodeCrypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a"))
node:zlib gzip, brotli, crc32 | zlib.gunzipSync(zlib.gzipSync("a")).toString() + zlib.brotliDecompressSync(zlib.brotliCompressSync("b")) + typeof zlib.crc32("a") === "abnumber"
node:zlib createGzip | (await new Promise((resolve) => stream.Readable.from(["a"]).pipe(zlib.createGzip()).pipe(zlib.createGunzip()).on("data", (data) => resolve(String(data))))) === "a"
node:zlib zstd | zlib.zstdDecompressSync(zlib.zstdCompressSync("a")).toString() === "a"
node:stream | (await stream.Readable.from([1, 2]).map((n) => n * 2).toArray())[1] === 4
node:stream toWeb | (await Array.fromAsync(stream.Readable.toWeb(stream.Readable.from(["a"])))).length === 1
node:buffer | Buffer.from("aGk=", "base64").toString("latin1") === "hi" && Buffer.concat([Buffer.alloc(2), Buffer.from([1])]).readUInt8(2) === 1
node:sqlite in memory | new DatabaseSync(":memory:").prepare("select 1 + 1 as n").get().n === 2
node:sqlite in /tmp | (() => { const db = new DatabaseSync(dir + "/n.db"); db.exec("create table if not exists t (n); insert into t values (1)"); const { n } = db.prepare("select count(*) as n from t").get(); db.close(); return n >= 1 })()
process.env: set and delete | (process.env.COMPAT = "1", Deno.env.get("COMPAT") === "1" && delete process.env.COMPAT && process.env.COMPAT === undefined && !("COMPAT" in process.env))
process.env: delete of a missing name | delete process.env.DEBUG && { ...process.env } instanceof Object
process.env.HOME, TMPDIR | typeof process.env.HOME === "string"
process.cwd and chdir | (process.chdir(dir), process.cwd().length > 1)
process.hrtime, uptime | process.hrtime.bigint() > 0n && process.uptime() > 0
process.memoryUsage, cpuUsage | process.memoryUsage().rss > 0 && process.cpuUsage().user >= 0
process.nextTick | (await new Promise((resolve) => process.nextTick(resolve, 1))) === 1
process.getuid and getgid | Number.isInteger(process.getuid()) && Number.isInteger(process.getgid())
process.version, argv, platform | process.version.startsWith("v") && process.argv.length >= 1 && process.platform === "linux" && typeof process.execPath === "string"
process.on | (() => { const listener = () => {}; process.on("SIGTERM", listener); process.on("exit", listener); process.off("SIGTERM", listener); process.off("exit", listener); return true })()
process.stdout.write | process.stdout.write("\n")
process.emitWarning | (process.emitWarning("a"), true)
process.umask | typeof process.umask() === "number"
process.kill of itself | process.kill(process.pid, 0)
`),
}

/** The modules of Node.js for networks, threads and the rest. */
export const nodeNetwork: ApiGroup = {
  title: "node: network, threads, others",
  imports: `import * as nodeHttp from "node:http"
import * as nodeHttps from "node:https"
import * as http2 from "node:http2"
import * as net from "node:net"
import * as nodeTls from "node:tls"
import * as dns from "node:dns"
import * as dgram from "node:dgram"
import * as childProcess from "node:child_process"
import * as threads from "node:worker_threads"
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks"
import * as vm from "node:vm"
import * as url from "node:url"
import * as util from "node:util"
import { EventEmitter, once } from "node:events"
import * as readline from "node:readline"
import * as perf from "node:perf_hooks"
import * as timers from "node:timers/promises"
import * as module from "node:module"
import * as v8 from "node:v8"
import * as tty from "node:tty"
import * as diagnostics from "node:diagnostics_channel"
import assert from "node:assert/strict"
import querystring from "node:querystring"
import { StringDecoder } from "node:string_decoder"
import { Readable } from "node:stream"
import process from "node:process"
import cluster from "node:cluster"`,
  checks: toChecks(String.raw`
node:http get | (await new Promise((resolve, reject) => nodeHttp.get(http + "/n", (response) => resolve(response.statusCode)).on("error", reject))) === 200
node:http request with an Agent | (await new Promise((resolve, reject) => { const agent = new nodeHttp.Agent({ keepAlive: true }); const request = nodeHttp.request(http, { method: "POST", agent }, async (response) => { const text = (await Array.fromAsync(response)).join(""); agent.destroy(); resolve(JSON.parse(text).body) }); request.on("error", reject); request.end("hi") })) === "hi"
node:https get | (await new Promise((resolve, reject) => nodeHttps.get(https + "/n", { ca }, (response) => resolve(response.statusCode)).on("error", reject))) === 200
node:http2 connect | (await new Promise((resolve, reject) => { const session = http2.connect(http2Address, { ca }); session.on("error", reject); const request = session.request({ ":path": "/" }); request.on("response", (headers) => { resolve(headers[":status"]); session.close() }); request.on("error", reject); request.end() })) === 200
node:net connect | (await new Promise((resolve, reject) => { const socket = net.connect(tcp[1], tcp[0], () => socket.write("hi")); socket.on("data", (data) => { resolve(String(data)); socket.end() }); socket.on("error", reject) })) === "hi"
node:net isIP, BlockList | net.isIP("::1") === 6 && (() => { const list = new net.BlockList(); list.addSubnet("10.0.0.0", 8); return list.check("10.1.1.1") })()
node:net createServer | (await new Promise((resolve, reject) => { const server = net.createServer().on("error", reject).listen(0, () => { server.close(); resolve(1) }) })) === 1
node:tls connect | (await new Promise((resolve, reject) => { const socket = nodeTls.connect({ host: tlsAddress[0], port: tlsAddress[1], ca }, () => socket.write("hi")); socket.on("data", (data) => { resolve(String(data)); socket.end() }); socket.on("error", reject) })) === "hi"
node:tls rootCertificates | nodeTls.rootCertificates.length > 0
node:dns lookup | (await dns.promises.lookup("localhost")).address.length > 0
node:dns resolve4 | Array.isArray(await dns.promises.resolve4("localhost"))
node:dns getServers | dns.getServers().length > 0
node:dgram | (await new Promise((resolve, reject) => { const socket = dgram.createSocket("udp4").on("error", reject); socket.send("hi", 9, "127.0.0.1", (error) => { socket.close(); error ? reject(error) : resolve(1) }) })) === 1
node:child_process spawn | (await new Promise((resolve, reject) => childProcess.spawn("true").on("error", reject).on("exit", resolve))) === 0
node:child_process execSync | childProcess.execSync("echo hi").toString() === "hi\n"
node:worker_threads Worker | (await new Promise((resolve, reject) => new threads.Worker("require('node:worker_threads').parentPort.postMessage(1)", { eval: true }).on("message", resolve).on("error", reject))) === 1
node:worker_threads Worker: files that it may not read | (await new Promise((resolve, reject) => new threads.Worker("require('node:worker_threads').parentPort.postMessage([require('node:fs').existsSync('/none/x'), require('node:os').hostname()])", { eval: true }).on("message", resolve).on("error", reject)))[0] === false
node:worker_threads MessageChannel | threads.isMainThread && (await new Promise((resolve) => { const { port1, port2 } = new threads.MessageChannel(); port1.on("message", (data) => { resolve(data); port1.close() }); port2.postMessage(1) })) === 1
node:async_hooks AsyncLocalStorage | (await new AsyncLocalStorage().run(1, async () => 1)) === 1 && new AsyncResource("a").runInAsyncScope(() => 1) === 1
node:vm runInNewContext | vm.runInNewContext("a + 1", { a: 1 }) === 2
node:vm Script | new vm.Script("1 + 1").runInThisContext() === 2
node:url | url.fileURLToPath("file:///a") === "/a" && url.parse("http://x/a?b=1").pathname === "/a"
node:util | util.format("%s %d", "a", 1) === "a 1" && util.inspect({ a: 1 }) === "{ a: 1 }" && util.types.isDate(new Date()) && util.parseArgs({ args: ["-a"], options: { a: { type: "boolean", short: "a" } } }).values.a
node:util promisify | (await util.promisify((done) => done(null, 1))()) === 1
node:events | (await (async () => { const emitter = new EventEmitter(); setTimeout(() => emitter.emit("a", 1), 1); return (await once(emitter, "a"))[0] })()) === 1
node:readline | (await Array.fromAsync(readline.createInterface({ input: Readable.from(["a\nb"]) }))).length === 2
node:perf_hooks | perf.performance.now() > 0 && perf.performance.timerify(() => 1)() === 1
node:timers/promises | (await timers.setTimeout(1, "a")) === "a"
node:module createRequire | module.createRequire(import.meta.url)("node:path").sep === "/" && module.builtinModules.includes("fs")
node:v8 | v8.deserialize(v8.serialize({ a: 1 })).a === 1 && v8.getHeapStatistics().heap_size_limit > 0
node:tty | typeof tty.isatty(1) === "boolean"
node:diagnostics_channel | diagnostics.channel("a").hasSubscribers === false
node:assert | (() => { try { assert.deepEqual({ a: 1 }, { a: 2 }) } catch (error) { return error.code === "ERR_ASSERTION" } })()
node:querystring, string_decoder | querystring.parse("a=1").a === "1" && new StringDecoder("utf8").write(Uint8Array.of(0xe2)) === ""
node:cluster | cluster.isPrimary
node:test | typeof (await import("node:test")).default === "function"
node:inspector | typeof (await import("node:inspector")).url === "function"
node:wasi | typeof (await import("node:wasi")).WASI === "function"
node:repl | typeof (await import("node:repl")).start === "function"
`),
}
