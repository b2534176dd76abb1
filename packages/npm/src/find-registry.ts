const publicRegistry = "https://registry.npmjs.org/"
/** npm takes about half a second. */
const npmMsMax = 15_000

/** The registry of the machine's npm configuration; the public one without npm. */
export async function findRegistry(
  command: readonly string[] = ["npm", "config", "get", "registry"],
): Promise<string> {
  try {
    const child = Bun.spawn([...command], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: npmMsMax,
      killSignal: "SIGKILL",
    })
    const output = (await new Response(child.stdout).text()).trim()
    const isValid =
      (await child.exited) === 0 && /^https?:$/.test(URL.parse(output)?.protocol ?? "")
    return isValid ? output.replace(/\/*$/, "/") : publicRegistry
  } catch {
    // npm is not installed.
    return publicRegistry
  }
}
