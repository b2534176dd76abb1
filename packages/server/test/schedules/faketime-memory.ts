import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

const folder = "/dev/shm"

/**
 * Removes the shared memory of processes with libfaketime that have ended. One that was killed
 * leaves it behind, and a later process with the same id then fails to start.
 */
export function removeFaketimeMemory(): void {
  const names = existsSync(folder) ? readdirSync(folder) : []
  for (const name of names) {
    const [, pid] = /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/.exec(name) ?? []
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      rmSync(join(folder, name), { force: true })
  }
}
