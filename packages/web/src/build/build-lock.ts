import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"

const limits = { waitMs: 100, buildMsMax: 300_000 }

/**
 * Does the work unless it is done, and lets one process do it where several want to at the same
 * time: the others wait for it.
 */
export async function doOnce(
  lock: string,
  isDone: () => boolean,
  work: () => Promise<void>,
): Promise<void> {
  while (!take(lock)) {
    if (isDone()) return
    if (isAbandoned(lock)) rmSync(lock, { force: true })
    else await Bun.sleep(limits.waitMs)
  }
  try {
    if (!isDone()) await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" })
    return true
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false
    throw error
  }
}

/** Whoever took it was killed, or is another program by now that has its number. */
function isAbandoned(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0)
    return Date.now() - statSync(lock).mtimeMs > limits.buildMsMax
  } catch (error) {
    // Not ours to signal is alive; gone in the meantime is not abandoned, and is looked at again.
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}
