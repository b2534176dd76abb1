/** The tool that fetches and bundles the packages of vals. */
import { serveResolve } from "@hamlet/npm/tool"
import { createImportRules } from "./import-rules.ts"

await serveResolve(createImportRules)
