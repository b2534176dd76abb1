import { limits } from "@hamlet/contract"
import type { Door, Stage } from "../door.ts"

type Arguments = Readonly<Record<string, unknown>>

const doubling = { oldText: "a", newText: "aa", all: true }
const large = "a".repeat(200_000)

/** Each tool of assistants, with its worst arguments. */
export const toolInputs: Readonly<Record<string, readonly Arguments[]>> = {
  search_vals: [{ query: `${"-".repeat(limits.queryCharsMax - 1)}!`, limit: 50 }],
  list_my_vals: [{ limit: 50 }],
  read_val: [{ val: "large1" }, { val: "lines" }],
  list_versions: [{ val: "lines", limit: 50 }],
  create_val: [{ code: "\u0001".repeat(limits.codeCharsMax) }],
  edit_val: [
    { val: "edited", version: 1, edits: Array.from({ length: 100 }, () => doubling) },
    { val: "edited", version: 1, edits: [{ ...doubling, newText: "b".repeat(10_000) }] },
    { val: "lines", version: 50, diff: toDiff(100) },
  ],
  update_val: [{ val: "edited", readme: "\n".repeat(limits.readmeCharsMax) }],
  list_files: [{ val: "lines", limit: 100 }],
  read_file: [
    { val: "large1", path: "main.tsx" },
    { val: "lines", path: "main.tsx" },
  ],
  create_file: [{ val: "edited", path: "a.ts", content: "\u0001".repeat(limits.codeCharsMax) }],
  edit_file: [
    {
      val: "edited",
      path: "main.tsx",
      version: 1,
      edits: Array.from({ length: 100 }, () => doubling),
    },
    { val: "lines", path: "main.tsx", version: 50, diff: toDiff(100) },
  ],
  write_files: [
    {
      val: "edited",
      version: 1,
      changes: Array.from({ length: limits.fileChangesMax }, (_, n) => ({
        path: `${"d/".repeat(19)}f${n}.ts`,
        content: "import './a.ts'\n".repeat(50),
      })),
    },
  ],
  list_branches: [{ val: "edited" }],
  create_branch: [{ val: "edited", name: "try", from: "z%FF".repeat(12) }],
  merge_branch: [
    {
      val: "edited",
      branch: "none",
      resolved: Array.from({ length: limits.fileChangesMax }, (_, n) => ({
        path: `${"d/".repeat(19)}f${n}.ts`,
        content: "import './a.ts'\n".repeat(50),
      })),
    },
  ],
  restore_version: [{ val: "lines", version: 1, note: "\u0001".repeat(limits.noteCharsMax) }],
  fork_val: [{ val: "lines", name: "forked" }],
  list_schedules: [{ limit: 50 }],
  set_schedule: [{ val: "edited", cron: "*/1,".repeat(limits.cronCharsMax / 4).slice(0, -1) }],
  delete_schedule: [{ val: "edited", file: `${"d/".repeat(19)}f.ts` }],
  list_secrets: [{ limit: 50 }, { val: "edited", limit: 50 }],
  run_val: [{ val: "returnsValues" }, { val: "logs" }, { val: "throws" }],
  // What it returns goes the way of run_val: line ends take two characters in JSON.
  run_code: [{ code: `export default () => "\\n".repeat(2_000_000)` }],
  request_val: [{ val: "responds", path: `/${"z%FF".repeat(4_000)}` }],
  list_runs: [{ limit: 50 }],
  get_run: [{ runId: "z%FF".repeat(25) }],
  read_logs: [{ runId: "z%FF".repeat(25) }],
  query_sqlite: [
    {
      sql: "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) select i, i, i from n",
    },
  ],
  execute_sqlite: [
    { statements: Array.from({ length: 100 }, () => ({ sql: `select '${"a".repeat(9_000)}'` })) },
  ],
  list_blobs: [{ limit: 1_000 }],
  list_orgs: [{}],
  read_blob: [{ key: "k" }],
  write_blob: [{ key: "k", text: "\n".repeat(900_000) }],
  delete_blob: [{ key: "z%FF".repeat(100) }],
  read_docs: [{ page: "configuration", fromLine: 1 }, { page: "../".repeat(30) }],
}

/** Hunks whose lines are nowhere near their number. */
function toDiff(hunks: number): string {
  const hunk = (index: number) => `@@ -${index * 10 + 1},1 +1,1 @@\n-absent ${index}\n+x\n`
  return Array.from({ length: hunks }, (_, index) => hunk(index)).join("")
}

/** The code of the val that is edited. */
export const editedCode = large

export const toolDoors: readonly Door[] = Object.entries(toolInputs).flatMap(([tool, inputs]) =>
  inputs.map((args, index) => ({
    name: `tool ${tool} ${index + 1}`,
    drive: (stage) => callTool(stage, tool, args),
  })),
)

async function callTool(stage: Stage, name: string, args: Arguments): Promise<void> {
  await stage.send({
    method: "POST",
    path: "/mcp",
    headers: { accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    }),
  })
}
