import { createNotFound } from "../errors/permission-errors.ts"
import { patchBuiltIns } from "../globals/built-ins.ts"
import {
  encodeText,
  hardenPattern,
  hrefOf,
  matchPattern,
  reflectApply,
  replacePattern,
  stringSlice,
  stringStartsWith,
  TypeErrorCtor,
} from "../primordials.ts"
import { readOwnFile } from "./own-files.ts"

type Read = (...args: unknown[]) => unknown
type Callback = (error: unknown, content?: unknown) => void
type ToContent = (text: string, options: unknown) => unknown

/** The address of the version that runs, as of all its modules, and that as a path. */
let rootUrl: string | undefined
let rootPath = ""

const root = hardenPattern(/^https?:\/\/[^/]+(\/.*@\d+-[^/]+\/)/)
/** A path below the working directory. */
const relative = hardenPattern(/^(?:\.\/)*(?![./])([^:\\]+)$/)
const query = hardenPattern(/[?#].*$/)

/** The version whose files are read by their addresses from here on. */
export function setOwnVersion(entryUrl: string): void {
  const found = matchPattern(entryUrl, root)
  rootUrl = found?.[0]
  rootPath = found?.[1] ?? ""
}

/**
 * The path of a file of the version, by a URL as in `new URL("./a.html", import.meta.url)`, or by the
 * path of such a URL. Undefined for other files.
 */
function toOwnPath(path: unknown): string | undefined {
  const text = hrefOf(path)
  if (rootUrl === undefined || typeof text !== "string") return undefined
  const prefix = stringStartsWith(text, rootUrl) ? rootUrl : rootPath
  return stringStartsWith(text, prefix)
    ? replacePattern(stringSlice(text, prefix.length), query, "")
    : undefined
}

/**
 * Lets the val read its own files with Deno and Node, as where a val is a folder: by their address, and
 * by a relative path if the working directory has no such file. The host has them, so that they cannot
 * be read synchronously.
 */
export function readOwnAddresses(): void {
  const deno = Deno as unknown as Record<string, Read>
  replaceRead(deno, "readTextFile", (text) => text)
  replaceRead(deno, "readFile", (text) => encodeText(text))
  for (const name of others) refuse(deno, name)
  // The named exports of node:fs/promises are no copies: these cannot be replaced.
  patchBuiltIns(["fs"], (find) => {
    const fs = find("fs") as Record<string, Read>
    const toContent: ToContent = (text, options) => {
      const { Buffer: buffer } = find("buffer") as { Buffer: typeof Buffer }
      const encoding = toEncoding(options)
      const bytes = reflectApply(buffer.from as Read, buffer, [text]) as Buffer
      return encoding === undefined ? bytes : bytes.toString(encoding)
    }
    replaceCallback(fs, toContent)
    refuse(fs, "readFileSync")
    replaceRead(fs.promises as unknown as Record<string, Read>, "readFile", toContent)
  })
}

/** Functions of Deno about one file, besides those that read it as a whole. */
const others = ["readTextFileSync", "readFileSync", "open", "openSync", "stat", "statSync"]

function replaceRead(owner: Record<string, Read>, name: string, toContent: ToContent): void {
  const original = owner[name] as Read
  owner[name] = async (path, options) => {
    const own = toOwnPath(path)
    if (own !== undefined) return toContent(await read(own), options)
    try {
      return await reflectApply(original, owner, [path, options])
    } catch (error) {
      // A Worker is not connected to the host.
      const near =
        typeof path === "string" && rootUrl !== undefined
          ? matchPattern(path, relative)?.[1]
          : undefined
      const text = near === undefined ? null : await findOwn(near)
      if (text === null) throw error
      return toContent(text, options)
    }
  }
}

/** `readFile` of node:fs. */
function replaceCallback(fs: Record<string, Read>, toContent: ToContent): void {
  const original = fs.readFile as Read
  fs.readFile = (...args) => {
    const own = toOwnPath(args[0])
    if (own === undefined) return reflectApply(original, fs, args)
    const respond = async () => {
      let content: unknown
      try {
        content = toContent(await read(own), args[1])
      } catch (error) {
        reflectApply(args[args.length - 1] as Callback, undefined, [error])
        return
      }
      reflectApply(args[args.length - 1] as Callback, undefined, [null, content])
    }
    void respond()
    return undefined
  }
}

async function read(path: string): Promise<string> {
  const text = await readOwnFile(path)
  if (text !== null) return text
  throw createNotFound(`Cannot read "${path}": this version of the val has no such file`)
}

async function findOwn(path: string): Promise<string | null> {
  try {
    return await readOwnFile(path)
  } catch {
    return null
  }
}

function refuse(owner: Record<string, Read>, name: string): void {
  const original = owner[name] as Read
  owner[name] = (...args) => {
    const own = toOwnPath(args[0])
    if (own === undefined) return reflectApply(original, owner, args)
    throw new TypeErrorCtor(
      `Cannot use ${name} for "${own}", a file of the val: await Deno.readTextFile(…), or readFile of std/utils`,
    )
  }
}

function toEncoding(options: unknown): BufferEncoding | undefined {
  const encoding =
    typeof options === "object" && options !== null
      ? (options as { readonly encoding?: unknown }).encoding
      : options
  return typeof encoding === "string" ? (encoding as BufferEncoding) : undefined
}
