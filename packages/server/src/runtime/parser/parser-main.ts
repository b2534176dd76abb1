// The program of a parser process: one request in, one answer out. It ends when the server does,
// for then nothing is left to wait for.
import type { ParseRequest, ParseResponse } from "./parser-messages.ts"
import { readyMessage } from "./parser-messages.ts"
import { scanImports } from "./scan-imports.ts"
import { toJavaScript } from "./to-javascript.ts"

function answer(request: ParseRequest): ParseResponse {
  if (request.task === "scan_many_imports")
    return { kind: "many_imports", specifiers: request.codes.map(scanImports) }
  if (request.task === "to_javascript") return toJavaScript(request.code)
  return { kind: "imports", specifiers: scanImports(request.code) }
}

process.on("message", (request: ParseRequest) => process.send?.(answer(request)))
process.send?.(readyMessage)
