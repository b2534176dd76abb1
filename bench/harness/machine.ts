import { cpus, release, totalmem, type } from "node:os"

/** The machine in one line. */
export function describeMachine(): string {
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} cores (${process.arch}${cpus()[0]?.model ? `, ${cpus()[0]?.model}` : ""}), ${memory} GiB, ${type()} ${release()}, Bun ${Bun.version}`
}
