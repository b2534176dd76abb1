import { AppError } from "../../domain/app-error.ts"

/** The guest as one file of JavaScript: a sandbox then has one file to see, and nothing to transpile each time it starts. */
export async function bundleGuest(path: string): Promise<string> {
  const built = await Bun.build({ entrypoints: [path], target: "node", format: "esm", throw: false })
  const [output] = built.outputs
  if (!built.success || !output) throw new AppError("sandbox_unavailable", `Cannot bundle the guest "${path}": ${built.logs.join("; ")}`)
  return await output.text()
}
