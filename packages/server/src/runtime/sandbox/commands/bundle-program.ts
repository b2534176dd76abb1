import { AppError } from "../../../domain/app-error.ts"

/**
 * A program for a sandbox as one file of JavaScript: there is then one file to see, and nothing to
 * transpile each time it starts.
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
