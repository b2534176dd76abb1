import { guestScript } from "@hamlet/guest/protocol"
import { AppError } from "../../../domain/app-error.ts"

/**
 * Bundles a program for a sandbox into one JavaScript file: the sandbox needs to see only that
 * file, and nothing is transpiled when it starts.
 */
export async function bundleProgram(
  path: string,
  target: "node" | "bun" = "node",
): Promise<string> {
  const built = await Bun.build({ entrypoints: [path], target, format: "esm", throw: false })
  const [output] = built.outputs
  if (!built.success || !output)
    throw new AppError(
      "sandbox_unavailable",
      `Cannot bundle the program "${path}": ${built.logs.join("; ")}`,
    )
  return await output.text()
}

/** Bundles the guest into the script that its main module evaluates. */
export async function bundleGuest(path: string): Promise<string> {
  return guestScript.before + (await bundleProgram(path)) + guestScript.after
}
