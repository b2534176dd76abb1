// The program of a parser process.
import { serveRequests } from "@hamlet/sandbox/worker"
import type { ParseRequest, ParseResponse } from "./parser-messages.ts"
import { scanImports } from "./scan-imports.ts"
import { scanPlaces } from "./scan-places.ts"
import { toJavaScript } from "./to-javascript.ts"

await serveRequests((request: ParseRequest) => [parse(request)])

function parse(request: ParseRequest): ParseResponse {
  if (request.task === "scan_many_imports")
    return { kind: "many_imports", specifiers: request.codes.map(scanImports) }
  if (request.task === "to_javascript") return toJavaScript(request.code)
  if (request.task === "scan_places") return { kind: "places", places: scanPlaces(request.code) }
  return { kind: "imports", specifiers: scanImports(request.code) }
}
