import type { Scope } from "@hamlet/contract"
import type { McpTool } from "./tool.ts"
import { blobTools } from "./tools/blobs.ts"
import { changeValTools } from "./tools/change-vals.ts"
import { docTools } from "./tools/docs.ts"
import { runTools } from "./tools/runs.ts"
import { sqliteTools } from "./tools/sqlite.ts"
import { valTools } from "./tools/vals.ts"

const tools: readonly McpTool[] = [
  ...valTools,
  ...changeValTools,
  ...runTools,
  ...sqliteTools,
  ...blobTools,
  ...docTools,
]

/** The tools that a token can use; in read-only mode, those that change nothing. */
export function listTools(scopes: ReadonlySet<Scope>, isReadOnly: boolean): readonly McpTool[] {
  return tools.filter(
    (tool) =>
      tool.scopes.every((scope) => scopes.has(scope)) && (!isReadOnly || tool.effect === "read"),
  )
}
