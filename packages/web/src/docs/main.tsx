import { render } from "preact"
import { App } from "./frame/app.tsx"
import { followSlash } from "./frame/filter-box.tsx"
import { followLocation } from "./frame/location.ts"
import { loadDocument } from "./operations/document.ts"
import { followToken } from "./requests/token.ts"

followLocation()
followToken()
followSlash()
void loadDocument()

const root = document.getElementById("app")
if (root) render(<App />, root)
