import { guestScript } from "@hamlet/guest/protocol"
import { AppError } from "../../domain/app-error.ts"
import { parseOwnJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"

/**
 * Bundles a program for a sandbox into one JavaScript file: the sandbox needs to see only that
 * file, and nothing is transpiled when it starts.
 */
export async function bundleProgram(
  path: string,
  target: "node" | "bun" = "node",
): Promise<string> {
  const [output] = await build(path, { target })
  return await output.text()
}

/**
 * Converts a module without imports to JavaScript. Its source map names no file, so that stack
 * traces show the module's own address, with the lines of its TypeScript.
 */
export async function toScript(path: string): Promise<string> {
  const [output, map] = await build(path, { target: "node", sourcemap: "external" })
  const { mappings, names } = parseOwnJson((await map?.text()) ?? "{}")
  const json = toOwnJson({ version: 3, sources: [""], mappings, names })
  const address = `data:application/json;base64,${Buffer.from(json).toString("base64")}`
  return `${await output.text()}\n//# sourceMappingURL=${address}`
}

/** Bundles the guest into the script that its main module evaluates. */
export async function bundleGuest(path: string): Promise<string> {
  return guestScript.before + (await bundleProgram(path)) + guestScript.after
}

async function build(
  path: string,
  options: Pick<Bun.BuildConfig, "target" | "sourcemap">,
): Promise<readonly [output: Blob, map?: Blob]> {
  const built = await Bun.build({ entrypoints: [path], format: "esm", throw: false, ...options })
  const [output, map] = built.outputs
  if (!built.success || !output)
    throw new AppError(
      "sandbox_unavailable",
      `Cannot bundle the program "${path}": ${built.logs.join("; ")}`,
    )
  return map ? [output, map] : [output]
}
