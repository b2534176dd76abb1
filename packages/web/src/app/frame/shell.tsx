import type { ComponentChildren } from "preact"
import { Brand } from "../../ui/brand.tsx"
import { Icon } from "../../ui/icon.tsx"
import { isServerLost } from "../data/connection.ts"
import { session } from "../session/session.ts"
import { settings } from "../settings.ts"
import { AccountMenu } from "./account-menu.tsx"
import { Bell } from "./bell.tsx"
import { openPalette } from "./command-palette-state.ts"
import { currentLocation } from "./location.ts"
import { isMac } from "./platform.ts"

/** The frame around every page. It is the same in every state, so that nothing jumps. */
export function Shell({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top-bar">
        <Brand href="/" label="Hamlet, home" />
        <nav class="top-nav" aria-label="Main">
          <NavLink href="/" label="Home" />
          {session.value.kind === "signed-in" ? (
            <>
              <NavLink href="/runs" label="Runs" />
              <NavLink href="/schedules" label="Schedules" />
              <NavLink href="/data" label="Data" />
            </>
          ) : null}
          <NavLink href="/search" label="Explore" />
          <NavLink href="/templates" label="Templates" />
          <a href="/docs">API</a>
        </nav>
        <button type="button" class="top-search" onClick={openPalette} aria-haspopup="dialog">
          <Icon name="search" />
          <span class="top-search-text">Search or run a command…</span>
          <kbd>{isMac() ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <AccountArea />
      </header>
      <p class="lost" role="alert">
        {isServerLost.value
          ? "The server does not respond. It may be restarting; your input is kept. Trying again…"
          : null}
      </p>
      {settings.notice === null ? null : (
        <aside class="notice" aria-label="About this server">
          {settings.notice}
        </aside>
      )}
      <main id="main" class="main" tabIndex={-1}>
        {children}
      </main>
    </>
  )
}

function NavLink({ href, label }: { href: string; label: string }) {
  const { path } = currentLocation.value
  const isHere = href === "/" ? path === "/" : path.startsWith(href)
  return (
    <a href={href} {...(isHere ? { "aria-current": "page" as const } : {})}>
      {label}
    </a>
  )
}

function AccountArea() {
  const { value } = session
  return (
    <span class="top-account">
      {value.kind === "signed-out" ? (
        <a class="button" href="/sign-in">
          Sign in
        </a>
      ) : null}
      {"me" in value ? (
        <>
          <Bell />
          <a class="button button-new" href="/new">
            <Icon name="plus" />
            <span>New val</span>
          </a>
          <AccountMenu me={value.me} />
        </>
      ) : null}
    </span>
  )
}
