import { existsSync, readFileSync, statSync } from "node:fs"
import { basename, extname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { toText } from "../terminal/read-input.ts"
import { type FileParts, formatFile, isValName, parseFile } from "./front-matter.ts"

/** A file that contains a val. */
export interface ValFile extends FileParts {
  readonly path: string
  /** From its first line, or else the file name. */
  readonly name: string
  /** The hash of the whole file. */
  readonly hash: string
}

const extensions = [".ts", ".tsx"]

/** Reads a val from a file. */
export function readValFile(path: string): ValFile {
  if (!isValFile(path))
    throw new CliError(
      "usage",
      `Cannot make a val of "${path}": its name does not end in .ts or .tsx`,
    )
  return parseValFile(readText(path), path)
}

/** Parses a file that is already read. */
export function parseValFile(text: string, path: string): ValFile {
  const parts = parseFile(text, path)
  const name = parts.front.name ?? basename(path, extname(path))
  if (!isValName(name))
    throw new CliError("usage", `Cannot make a val of "${path}": "${name}" is not a valid name`, {
      advice: 'set another name in its first line: "// hamlet: name=hello"',
    })
  return { ...parts, path, name, hash: hashText(text) }
}

/** Whether a path can be that of a val. */
export function isValFile(path: string): boolean {
  return extensions.includes(extname(path)) && !path.endsWith(".d.ts")
}

/** The text of the file of a val. */
export function toValFileText(
  val: { readonly name: string; readonly code: string } & Pick<
    FileParts["front"],
    "privacy" | "type"
  >,
): string {
  const { name, privacy, type, code } = val
  return formatFile({ front: { name, ...(privacy && { privacy }), ...(type && { type }) }, code })
}

/** The path of the file of a val: an existing one, or a new one. */
export function findValPath(
  folder: string,
  val: { readonly name: string; readonly code: string },
): string {
  // The name comes from the server and becomes a path: it must not lead outside the folder.
  if (!isValName(val.name))
    throw new CliError("failed", `Cannot make a file of val "${val.name}": the name is not valid`)
  const paths = extensions.map((extension) => join(folder, val.name + extension))
  return paths.find((path) => existsSync(path)) ?? join(folder, val.name + toExtension(val.code))
}

/** The extension for the code: JSX needs `.tsx`. */
function toExtension(code: string): string {
  return /<\/[A-Za-z>]|\/>/.test(code) ? ".tsx" : ".ts"
}

/** Reads a text file, within the size limit. */
export function readText(path: string): string {
  return toText(readBytes(path, limits.inputBytesMax), `"${path}"`)
}

/** Reads a file of at most `bytesMax` bytes. */
export function readBytes(path: string, bytesMax: number): Uint8Array {
  try {
    const { size } = statSync(path)
    if (size > bytesMax)
      throw new CliError("failed", `Cannot read "${path}": it is larger than ${bytesMax} bytes`)
    return readFileSync(path)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === "ENOENT")
      throw new CliError("notFound", `Cannot read "${path}": the file does not exist`, { cause })
    throw new CliError("failed", `Cannot read "${path}": ${message}`, { cause })
  }
}

/** Hashes a text with SHA-256. */
export function hashText(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex")
}
