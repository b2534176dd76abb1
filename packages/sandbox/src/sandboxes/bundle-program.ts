import { guestScript } from "@hamlet/guest/protocol"
import { parseOwnJson, Refused, toOwnJson } from "@hamlet/kit"

/**
 * Bundles a program for a sandbox into one JavaScript file: the sandbox needs to see only that
 * file, and nothing is transpiled when it starts.
 */
export async function bundleProgram(
  path: string,
  target: "node" | "bun" = "node",
): Promise<string> {
  return await build(path, [`--target=${target}`])
}

/**
 * Converts a module without imports to JavaScript. Its source map names no file, so that stack
 * traces show the module's own address, with the lines of its TypeScript.
 */
export async function toScript(path: string): Promise<string> {
  const output = await build(path, ["--target=node", "--sourcemap=inline"])
  const [, code = output, map = ""] = inlineMap.exec(output) ?? []
  const { mappings, names } = parseOwnJson(Buffer.from(map, "base64").toString() || "{}")
  const json = toOwnJson({ version: 3, sources: [""], mappings, names })
  const address = `data:application/json;base64,${Buffer.from(json).toString("base64")}`
  return `${code}\n//# sourceMappingURL=${address}`
}

const inlineMap =
  /^(.*)\n\/\/# sourceMappingURL=data:application\/json;base64,([A-Za-z0-9+/=]*)\s*$/s

/** Bundles the guest into the script that its main module evaluates. */
export async function bundleGuest(path: string): Promise<string> {
  return guestScript.before + (await bundleProgram(path)) + guestScript.after
}

/** In another process, because bundling takes memory that the server would keep. */
async function build(path: string, options: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, "build", path, "--format=esm", ...options], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [output, problem, exitCode] = await Promise.all([
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
    child.exited,
  ])
  if (exitCode !== 0 || output === "")
    throw new Refused(
      "sandbox_unavailable",
      `Cannot bundle the program "${path}": ${problem.trim()}`,
    )
  return output
}
