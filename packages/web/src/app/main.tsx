import { render } from "preact"
import { App } from "./frame/app.tsx"
import { followLocation } from "./frame/location.ts"
import { loadSession } from "./session/sign-in.ts"
import { isEmbedded } from "./settings.ts"

// A view inside somebody else's page has nobody to be, and turns into no other page: the browser
// loads that, which may not be framed.
if (!isEmbedded) {
  followLocation()
  void loadSession()
}

const root = document.getElementById("app")
if (root) render(<App />, root)
