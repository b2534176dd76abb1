const publicRegistry = "https://registry.npmjs.org/"
/** npm takes about half a second to say it. */
const npmMsMax = 15_000

/**
 * The registry that the machine's npm configuration names; the public one where there is no npm.
 */
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
    const said = (await new Response(child.stdout).text()).trim()
    const isGood = (await child.exited) === 0 && /^https?:$/.test(URL.parse(said)?.protocol ?? "")
    return isGood ? said.replace(/\/*$/, "/") : publicRegistry
  } catch {
    // There is no npm.
    return publicRegistry
  }
}
