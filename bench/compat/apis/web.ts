import { type ApiGroup, toChecks } from "../api-check.ts"

/** What browsers have too: requests, bodies, streams and sockets. */
export const webRequests: ApiGroup = {
  title: "Web: requests, streams, events",
  imports: "",
  checks: toChecks(`
fetch | (await (await fetch(http + "/a?b=1")).json()).path === "/a"
fetch: POST of JSON | (await (await fetch(http, { method: "POST", body: JSON.stringify({ n: 1 }), headers: { "content-type": "application/json" } })).json()).body.n === 1
fetch: streamed request body | (await (await fetch(http, { method: "POST", body: ReadableStream.from([new TextEncoder().encode("a"), new TextEncoder().encode("b")]), duplex: "half" })).json()).body === "ab"
fetch: FormData | (await (await fetch(http, { method: "POST", body: (() => { const form = new FormData(); form.set("a", new File(["x"], "x.txt")); return form })() })).json()).body.includes("x.txt")
fetch: https | (await (await fetch(https + "/s")).json()).path === "/s"
fetch: redirect | (await fetch(http + "/moved")).url.endsWith("/there")
fetch: AbortSignal.timeout | (await fetch(http + "/slow", { signal: AbortSignal.timeout(50) }).catch((error) => error.name)) === "TimeoutError"
fetch: data URL | (await (await fetch("data:text/plain,hi")).text()) === "hi"
fetch: blob URL | (await (await fetch(URL.createObjectURL(new Blob(["hi"])))).text()) === "hi"
fetch: file URL in /tmp | const path = await Deno.makeTempFile(); await Deno.writeTextFile(path, "hi"); return (await (await fetch("file://" + path)).text()) === "hi"
Request | (await new Request("http://x/", { method: "POST", body: "a" }).clone().text()) === "a"
Response.json | (await Response.json({ a: 1 }).json()).a === 1
Response.redirect | Response.redirect("http://x/", 303).status === 303
Headers.getSetCookie | new Headers([["set-cookie", "a=1"], ["set-cookie", "b=2"]]).getSetCookie().length === 2
FormData from a body | (await new Response("a=1", { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData()).get("a") === "1"
WebSocket | (await new Promise((resolve, reject) => { const socket = new WebSocket(ws); socket.onopen = () => socket.send("a"); socket.onmessage = ({ data }) => { resolve(data); socket.close() }; socket.onerror = ({ message }) => reject(new Error(message)) })) === "echo a"
WebSocket over TLS | (await new Promise((resolve, reject) => { const socket = new WebSocket(wss); socket.onopen = () => socket.send("a"); socket.onmessage = ({ data }) => { resolve(data); socket.close() }; socket.onerror = ({ message }) => reject(new Error(message)) })) === "echo a"
WebSocket: binary | (await new Promise((resolve, reject) => { const socket = new WebSocket(ws); socket.binaryType = "arraybuffer"; socket.onopen = () => socket.send(new Uint8Array([1, 2])); socket.onmessage = ({ data }) => { resolve(data); socket.close() }; socket.onerror = ({ message }) => reject(new Error(message)) })) !== undefined
EventSource | (await new Promise((resolve, reject) => { const source = new EventSource(http + "/events"); source.onmessage = ({ data }) => { resolve(data); source.close() }; source.onerror = () => reject(new Error("the connection failed")) })) === "hi"
ReadableStream.from and tee | (await Promise.all(ReadableStream.from(["a", "b"]).tee().map((stream) => Array.fromAsync(stream)))).flat().length === 4
ReadableStream: bytes | (await new ReadableStream({ type: "bytes", start(controller) { controller.enqueue(new Uint8Array([7])); controller.close() } }).getReader({ mode: "byob" }).read(new Uint8Array(4))).value[0] === 7
TransformStream | (await Array.fromAsync(ReadableStream.from([1]).pipeThrough(new TransformStream({ transform(n, controller) { controller.enqueue(n + 1) } }))))[0] === 2
CompressionStream | (await new Response(new Blob(["hi"]).stream().pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))).text()) === "hi"
TextDecoderStream | (await Array.fromAsync(new Blob(["hé"]).stream().pipeThrough(new TextDecoderStream()))).join("") === "hé"
URL | URL.canParse("http://x/") && URL.parse("no") === null && new URL("../b", "http://x/a/c").pathname === "/b"
URLSearchParams | new URLSearchParams("a=1&a=2").getAll("a").length === 2
URLPattern | new URLPattern({ pathname: "/users/:id" }).exec("http://x/users/7").pathname.groups.id === "7"
Blob | (await new Blob(["ab", new Uint8Array([99])]).slice(1).text()) === "bc"
FileReader | (await new Promise((resolve) => { const reader = new FileReader(); reader.onload = () => resolve(reader.result); reader.readAsText(new Blob(["hi"])) })) === "hi"
TextDecoder: other encodings | new TextDecoder("windows-1252").decode(new Uint8Array([0x80])) === "€"
atob and btoa | atob(btoa("hi")) === "hi"
structuredClone | structuredClone(new Map([[1, { at: new Date(0) }]])).get(1).at.getTime() === 0
MessageChannel | (await new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = ({ data }) => { resolve(data); port1.close() }; port2.postMessage(1) })) === 1
BroadcastChannel | (await new Promise((resolve) => { const [one, other] = [new BroadcastChannel("c"), new BroadcastChannel("c")]; other.onmessage = ({ data }) => { resolve(data); one.close(); other.close() }; one.postMessage(1) })) === 1
Worker: data URL | (await new Promise((resolve, reject) => { const worker = new Worker("data:text/javascript,self.onmessage = ({ data }) => self.postMessage(data + 1)", { type: "module" }); worker.onmessage = ({ data }) => { resolve(data); worker.terminate() }; worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) }; worker.postMessage(1) })) === 2
Worker: blob URL | (await new Promise((resolve, reject) => { const worker = new Worker(URL.createObjectURL(new Blob(["self.postMessage(1 + 1)"], { type: "text/javascript" })), { type: "module" }); worker.onmessage = ({ data }) => { resolve(data); worker.terminate() }; worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) } })) === 2
Worker: fetch inside | (await new Promise((resolve, reject) => { const worker = new Worker("data:text/javascript," + encodeURIComponent("self.onmessage = async ({ data }) => self.postMessage(await (await fetch(data)).json())"), { type: "module" }); worker.onmessage = ({ data }) => { resolve(data.path); worker.terminate() }; worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) }; worker.postMessage(http + "/w") })) === "/w"
EventTarget and CustomEvent | (() => { let got; const target = new EventTarget(); target.addEventListener("a", ({ detail }) => { got = detail }, { once: true }); target.dispatchEvent(new CustomEvent("a", { detail: 1 })); return got })() === 1
AbortSignal.any | AbortSignal.any([AbortSignal.abort("x"), new AbortController().signal]).reason === "x"
setTimeout and setInterval | (await new Promise((resolve) => { let count = 0; const timer = setInterval(() => { if (++count === 2) { clearInterval(timer); resolve(count) } }, 1) })) === 2
queueMicrotask | (await new Promise((resolve) => queueMicrotask(() => resolve(1)))) === 1
DOMException | new DOMException("a", "AbortError").code === 20
XMLHttpRequest | new XMLHttpRequest() !== undefined
WebTransport | WebTransport.name === "WebTransport"
`),
}

/** What browsers have too: cryptography, storage, the language. */
export const webPlatform: ApiGroup = {
  title: "Web: cryptography, storage, language",
  imports: "",
  checks: toChecks(`
crypto.randomUUID | crypto.randomUUID().length === 36
crypto.getRandomValues | crypto.getRandomValues(new Uint8Array(8)).length === 8
crypto.subtle.digest | (await crypto.subtle.digest("SHA-256", new Uint8Array(1))).byteLength === 32
crypto.subtle: HMAC | const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]); const data = new Uint8Array(3); return crypto.subtle.verify("HMAC", key, await crypto.subtle.sign("HMAC", key, data), data)
crypto.subtle: AES-GCM | const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]); const iv = new Uint8Array(12); return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new Uint8Array([7]))))[0] === 7
crypto.subtle: RSA | const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]); const data = new Uint8Array(3); return crypto.subtle.verify("RSASSA-PKCS1-v1_5", publicKey, await crypto.subtle.sign("RSASSA-PKCS1-v1_5", privateKey, data), data)
crypto.subtle: ECDSA | const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]); const how = { name: "ECDSA", hash: "SHA-256" }; return crypto.subtle.verify(how, publicKey, await crypto.subtle.sign(how, privateKey, new Uint8Array(3)), new Uint8Array(3))
crypto.subtle: Ed25519 | const { privateKey, publicKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]); return crypto.subtle.verify("Ed25519", publicKey, await crypto.subtle.sign("Ed25519", privateKey, new Uint8Array(3)), new Uint8Array(3))
crypto.subtle: PBKDF2 | const key = await crypto.subtle.importKey("raw", new Uint8Array(4), "PBKDF2", false, ["deriveBits"]); return (await crypto.subtle.deriveBits({ name: "PBKDF2", salt: new Uint8Array(8), iterations: 10, hash: "SHA-256" }, key, 128)).byteLength === 16
WebAssembly | (await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 97, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]))).instance.exports.a() === 42
WebAssembly.instantiateStreaming | (await WebAssembly.instantiateStreaming(new Response(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]), { headers: { "content-type": "application/wasm" } }))).instance !== undefined
Intl.DateTimeFormat | new Intl.DateTimeFormat("de", { timeZone: "Asia/Tokyo", dateStyle: "short" }).format(0) === "01.01.70"
Intl.NumberFormat | new Intl.NumberFormat("en", { style: "currency", currency: "EUR" }).format(1234.5) === "€1,234.50"
Intl.Segmenter | [...new Intl.Segmenter("en", { granularity: "word" }).segment("a b")].length === 3
Intl.DurationFormat | new Intl.DurationFormat("en").format({ hours: 1 }) === "1 hr"
Temporal | Temporal.PlainDate.from("2026-02-28").add({ days: 1 }).toString() === "2026-03-01"
performance | performance.measure("m", { start: performance.mark("a").startTime, end: performance.now() }).duration >= 0
caches | const cache = await caches.open("c"); await cache.put("http://x/a", new Response("hi")); return (await (await cache.match("http://x/a")).text()) === "hi"
localStorage | (localStorage.setItem("a", "1"), localStorage.getItem("a")) === "1"
sessionStorage | (sessionStorage.setItem("a", "1"), sessionStorage.getItem("a")) === "1"
indexedDB | indexedDB.open("a") !== undefined
navigator | navigator.hardwareConcurrency >= 1 && navigator.userAgent.startsWith("Deno/") && typeof navigator.language === "string"
location | typeof location === "undefined" || typeof location.href === "string"
console | (console.table([{ a: 1 }]), console.group("g"), console.error("e"), console.groupEnd(), console.assert(true), true)
alert and prompt | (alert("a"), prompt("b") === null && confirm("c") === false)
reportError | typeof reportError === "function"
eval and Function | eval("1 + 1") === 2 && new Function("return 3")() === 3
SharedArrayBuffer and Atomics | Atomics.add(new Int32Array(new SharedArrayBuffer(8)), 0, 1) === 0
using declarations | (() => { let closed = 0; { using thing = { [Symbol.dispose]: () => closed++ } } return closed })() === 1
Iterator helpers, Set methods | [...new Set([1, 2]).union(new Set([3])).values().map((n) => n * 2)].at(-1) === 6
import.meta.url | typeof import.meta.url === "string"
import(): data URL | (await import("data:text/javascript,export const a = 1")).a === 1
ImageData | new ImageData(1, 1).data.length === 4
createImageBitmap | (await createImageBitmap(new ImageData(1, 1))).width === 1
navigator.gpu | typeof navigator.gpu?.requestAdapter === "function"
`),
}
