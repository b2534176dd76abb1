import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { isTokenKept, token } from "./token.ts"

/** The token to send, typed once for all operations. */
export function TokenField({ isOptional = false }: { isOptional?: boolean }) {
  const id = useId()
  const isShown = useSignal(false)
  return (
    <div class="token">
      <div class="input-row">
        <label class="input-label" for={id}>
          Token
          {isOptional ? <span class="input-hint"> optional</span> : null}
        </label>
        <div class="input-cell input-with-button">
          <input
            id={id}
            class="input"
            {...(isShown.value ? ({ type: "text" } as const) : ({ type: "password" } as const))}
            value={token.value}
            placeholder="Paste a token"
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => {
              token.value = event.currentTarget.value
            }}
          />
          <button
            type="button"
            class="input-button"
            aria-pressed={isShown.value}
            onClick={() => {
              isShown.value = !isShown.value
            }}
          >
            {isShown.value ? "Hide" : "Show"}
          </button>
        </div>
      </div>
      <label class="token-keep">
        <input
          type="checkbox"
          checked={isTokenKept.value}
          onChange={(event) => {
            isTokenKept.value = event.currentTarget.checked
          }}
        />
        <span>Keep it until this tab is closed</span>
      </label>
    </div>
  )
}
