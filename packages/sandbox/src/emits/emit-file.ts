import type { ProgramModule } from "../program/program-module.ts"

/**
 * What Deno's cache of transpiled modules depends on. Deno does not document it: its version is
 * pinned, and a test compares a file of ours with one of Deno. With other values Deno would not use
 * our files, and would transpile as if there were none.
 */
export const emitFormat = {
  /** The version of Deno to which the others belong. */
  deno: "2.9.5",
  /** The version of its transpiler, which is part of the hash of the JavaScript. */
  transpiler: "0.53.3",
  /** The hash of the compiler options, which is part of the hash of the text. */
  options: 2_224_276_421_430_452_690n,
}

/** The module types that Deno transpiles. */
const transpiledTypes: ReadonlySet<string> = new Set(["tsx", "ts", "jsx"])

/** Whether Deno transpiles the module. */
export function isTranspiled({ type = "tsx", location }: ProgramModule): boolean {
  return location === undefined && transpiledTypes.has(type)
}

/**
 * Identifies the JavaScript of a module, which does not depend on its address. Its owner is part of
 * the key: if code took over the transpiler, others with the same text would not get its JavaScript.
 * A cryptographic hash: with collisions, a user could replace the code of another user. Undefined for
 * modules that are left to Deno: it hashes a text without its byte order mark, and `.cts` is CommonJS.
 */
export function toEmitKey(module: ProgramModule): string | undefined {
  const { url, code, type = "tsx", ownerId } = module
  if (ownerId === undefined || code.startsWith("\ufeff") || url.endsWith(".cts")) return undefined
  const known = keys.get(module)
  if (known !== undefined) return known
  const hasher = new Bun.CryptoHasher("sha256").update(`${ownerId}\n${type}\n`)
  const key = hasher.update(code).digest("hex")
  keys.set(module, key)
  return key
}

/** To hash the largest program takes 50 ms, and a process asks three times for the key of a module. */
const keys = new WeakMap<ProgramModule, string>()

const textEnd = Uint8Array.of(0xff)
/** ES modules, in the hash of the text. */
const moduleKind = toBytes(0n)
const optionsHash = toBytes(emitFormat.options)
const transpilerVersion = Buffer.from(emitFormat.transpiler)

/** The file of a module in Deno's cache, from its text and its JavaScript. */
export function toEmitFile(code: string, javascript: Uint8Array): Uint8Array {
  const source = Bun.hash.xxHash64(
    Buffer.concat([Buffer.from(code), textEnd, optionsHash, moduleKind]),
  )
  const length = toBytes(BigInt(javascript.length))
  const emit = Bun.hash.xxHash64(Buffer.concat([length, javascript, transpilerVersion, textEnd]))
  return Buffer.concat([javascript, Buffer.from(`\n// denoCacheMetadata=${source},${emit}`)])
}

function toBytes(number: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(number)
  return bytes
}
