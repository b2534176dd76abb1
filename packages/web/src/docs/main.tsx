import { render } from "preact"
import { App } from "./components/app.tsx"
import { followSlash } from "./components/filter-box.tsx"
import { loadDocument } from "./state/document.ts"
import { followLocation } from "./state/location.ts"
import { followToken } from "./state/token.ts"

followLocation()
followToken()
followSlash()
void loadDocument()

const root = document.getElementById("app")
if (root) render(<App />, root)
