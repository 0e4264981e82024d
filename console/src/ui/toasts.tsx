import { dismiss, toasts } from '../state/toasts.js'
import { Button } from './button.js'
import { Icon } from './icon.js'

const ICONS = { done: 'check', warning: 'warning', error: 'warning' } as const

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, details }) => (
        <div key={id} class={`toast ${tone}`}>
          <Icon name={ICONS[tone]} />
          <div>
            <p>{text}</p>
            {details.length > 0 && (
              <ul>
                {details.map(line => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            )}
          </div>
          <Button icon="close" label="Dismiss" tone="quiet" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
