import { render } from "preact"
import { App } from "./frame/app.tsx"
import { followNavigation } from "./frame/location.ts"
import { loadSession } from "./session/sign-in.ts"
import { isEmbedded } from "./settings.ts"

// An embedded page has no session and follows no links: the browser loads those itself, and other
// pages may not be framed.
if (!isEmbedded) {
  followNavigation()
  void loadSession()
}

const root = document.getElementById("app")
if (root) render(<App />, root)
