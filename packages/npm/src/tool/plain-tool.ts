/** The tool that resolves imports by the rules of the package alone. */
import { createPlainRules } from "../import-rules.ts"
import { serveResolve } from "./serve-resolve.ts"

await serveResolve(createPlainRules)
