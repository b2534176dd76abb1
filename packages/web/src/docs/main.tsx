import { render } from "preact"
import { DocsApp } from "./frame/app.tsx"
import { followSlash } from "./frame/sidebar.tsx"
import { followHash } from "./frame/view.ts"
import { loadDocument } from "./operations/document.ts"
import { findSignedIn } from "./requests/session.ts"
import { followToken } from "./requests/token.ts"

followHash()
followToken()
followSlash()
void loadDocument()
void findSignedIn()

const root = document.getElementById("app")
if (root) render(<DocsApp />, root)
