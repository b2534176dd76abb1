import type { ExitName } from "../exit-codes.ts"
import type { Output } from "../output/output.ts"
import { toOneLine } from "../terminal/visible.ts"

/**
 * The result of one check of the machine or the server; the server program prints the same JSON.
 */
export interface Finding {
  readonly check: string
  readonly status: "ok" | "warning" | "failure"
  readonly found: string
  readonly mend: string | null
}

const marks = { ok: "✓", warning: "!", failure: "✗" } as const
const exits = { ok: "ok", warning: "warned", failure: "failed" } as const satisfies Record<
  Finding["status"],
  ExitName
>

/** The exit code for the worst finding. */
export function toExit(findings: readonly Finding[]): ExitName {
  const worst = (["failure", "warning"] as const).find((status) =>
    findings.some((finding) => finding.status === status),
  )
  return exits[worst ?? "ok"]
}

/** Whether a line of the server program is a finding. */
export function isFinding(line: unknown): line is Finding {
  const { check, status, found, mend } = (line ?? {}) as Partial<Finding>
  return (
    typeof check === "string" &&
    typeof found === "string" &&
    status !== undefined &&
    status in marks &&
    (mend === null || typeof mend === "string")
  )
}

/** Prints a finding: with a mark and a fix for people, as columns for programs. */
export function showFinding(output: Output, finding: Finding): void {
  const { check, status, found, mend } = finding
  const { colour, mode } = output
  const paint = { ok: colour.green, warning: colour.yellow, failure: colour.red }[status]
  if (mode === "json") output.json({ check, status, found, mend })
  else if (mode === "plain")
    output.line([status, check, found, mend ?? ""].map(toOneLine).join("\t"))
  else {
    output.line(`${paint(marks[status])} ${colour.bold(check)}  ${toOneLine(found)}`)
    if (mend !== null) output.line(`  → ${toOneLine(mend)}`)
  }
}
