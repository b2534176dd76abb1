import { existsSync } from "node:fs"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { runServerProgram } from "../servers/server-program.ts"
import { createProgress, type Progress } from "../terminal/progress.ts"
import type { ProgressUnit } from "../terminal/progress-line.ts"

export const command = defineCommand({
  description: `Restores a backup into an empty data folder and an empty database. Pass the flags and the environment that
you start the server with; the server must not be running. If the restore fails, the target stays empty.
A backup does not contain the secret key: put the key file into the data folder, or set HAMLET_SECRET_KEY.`,
  examples: [
    ["hamlet restore monday.backup --data-dir /var/lib/hamlet", "restore to SQLite in a folder"],
    [
      "hamlet restore monday.backup --database-url postgres://hamlet@localhost/hamlet",
      "restore to PostgreSQL",
    ],
  ],
  takes: { "<file>": "backup file", "[flags...]": "server flags, as for serve" },
  allowsUnknownOptions: true,
  async run(context, { file, flags }) {
    const { output } = context
    if (file.startsWith("-"))
      throw new CliError("usage", `Cannot restore "${file}": it is not a file`, {
        advice: "put the file before the flags",
      })
    if (!existsSync(file))
      throw new CliError("notFound", `Cannot restore "${file}": there is no such file`)
    const steps = new Steps(context)
    try {
      const { code, stderr } = await runServerProgram(
        context,
        ["restore", file, "--json", ...flags],
        (line) => steps.update(line as Step),
      )
      const { restored } = steps
      if (code !== 0 || !restored)
        throw new CliError(
          "failed",
          stderr.trim() || `Cannot restore "${file}": the server program exited with ${code}`,
        )
      steps.stop()
      const { sections, createdAt, serverVersion, notes } = restored
      for (const note of notes) output.note(note)
      output.print({
        json: { file, sections, createdAt, serverVersion, notes },
        plain: file,
        human: `Restored ${describe(sections)}, as it was at ${createdAt}`,
      })
    } finally {
      steps.stop()
    }
  },
})

/** The progress that the server program prints. */
type Step =
  | {
      readonly step: "check" | "load" | "index" | "verify"
      readonly done: number
      readonly total: number
    }
  | RestoredStep

interface RestoredStep {
  readonly step: "done"
  readonly sections: Readonly<Record<string, number>>
  readonly createdAt: string
  readonly serverVersion: string
  readonly notes: readonly string[]
}

const labels: Readonly<
  Record<Exclude<Step["step"], "done">, readonly [label: string, unit: ProgressUnit]>
> = {
  check: ["Checking", "bytes"],
  load: ["Loading", "items"],
  index: ["Indexing", "vals"],
  verify: ["Verifying", "tables"],
}

/** Shows a progress line for each step in turn. */
class Steps {
  restored: RestoredStep | undefined
  readonly #context: Context
  #step: Step["step"] | undefined
  #progress: Progress | undefined

  constructor(context: Context) {
    this.#context = context
  }

  update(line: Step | undefined): void {
    if (line?.step === "done") this.restored = line
    if (line === undefined || line.step === "done" || labels[line.step] === undefined) return
    if (line.step !== this.#step) {
      this.#progress?.stop()
      const [label, unit] = labels[line.step]
      this.#progress = createProgress(this.#context, { label, unit })
      this.#step = line.step
    }
    this.#progress?.set(line.done, line.total)
  }

  stop(): void {
    this.#progress?.stop()
  }
}

function describe(sections: Readonly<Record<string, number>>): string {
  const { users = 0, vals = 0 } = sections
  return `${users} ${users === 1 ? "user" : "users"} and ${vals} ${vals === 1 ? "val" : "vals"}`
}
