import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs"

const limits = { waitMs: 100, buildMsMax: 300_000 }

/** Does the work unless it is done. Of several processes, one does it and the others wait. */
export async function doOnce(
  lock: string,
  isDone: () => boolean,
  work: () => Promise<void>,
): Promise<void> {
  // Without the lock: the folder may be read-only.
  if (isDone()) return
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

/** The owner was killed, or its process id belongs to another program by now. */
function isAbandoned(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0)
    return Date.now() - statSync(lock).mtimeMs > limits.buildMsMax
  } catch (error) {
    // EPERM means alive; a lock that was just removed is checked again by the caller.
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}
