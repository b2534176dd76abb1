import { render } from "preact"
import { App } from "./components/app.tsx"
import { isEmbedded } from "./settings.ts"
import { followLocation } from "./state/location.ts"
import { loadSession } from "./state/sign-in.ts"

// A view inside somebody else's page has nobody to be, and turns into no other page: the browser
// loads that, which may not be framed.
if (!isEmbedded) {
  followLocation()
  void loadSession()
}

const root = document.getElementById("app")
if (root) render(<App />, root)
