import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { bindText, setTo } from "../../ui/bind.ts"
import { Check } from "../../ui/check.tsx"
import { signedInAs } from "./session.ts"
import { isTokenKept, token } from "./token.ts"

/** The token that requests are sent with, typed once for all operations. */
export function TokenField({ isOptional = false }: { isOptional?: boolean }) {
  const id = useId()
  const isShown = useSignal(false)
  const me = signedInAs.value
  return (
    <div class="token">
      <div class="input-row">
        <label class="input-label" for={id}>
          Token
          {isOptional || me !== undefined ? <span class="input-hint"> optional</span> : null}
        </label>
        <div class="input-with-button">
          <input
            id={id}
            class="input input-mono"
            {...(isShown.value ? ({ type: "text" } as const) : ({ type: "password" } as const))}
            placeholder={me === undefined ? "Paste a token" : `Signed in as ${me}`}
            autocomplete="off"
            spellcheck={false}
            {...bindText(token)}
          />
          <button
            type="button"
            class="tiny input-button"
            aria-pressed={isShown.value}
            onClick={setTo(isShown, !isShown.value)}
          >
            {isShown.value ? "Hide" : "Show"}
          </button>
        </div>
      </div>
      {me !== undefined && token.value === "" ? (
        <p class="token-keep" role="status">
          Requests are sent as {me}, who is signed in to the app.
        </p>
      ) : null}
      <Check
        class="token-keep"
        checked={isTokenKept.value}
        onChange={setTo(isTokenKept, !isTokenKept.value)}
      >
        Keep it until this tab is closed
      </Check>
    </div>
  )
}
