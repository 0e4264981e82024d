import { signal } from '@preact/signals'
import { commands } from '../state/commands.js'
import { Dialog } from '../ui/dialog.js'

const isOpen = signal(false)

export const openHelp = (): void => {
  isOpen.value = true
}

/** The keys of this view. */
export function Help() {
  if (!isOpen.value) return null
  const withKeys = commands().filter(({ keys }) => keys !== undefined)
  const groups = [...new Set(withKeys.map(({ group }) => group))]
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        isOpen.value = false
      }}
    >
      <div class="help">
        {groups.map(group => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {withKeys
                .filter(each => each.group === group)
                .map(({ id, title, keys }) => (
                  <div key={id}>
                    <dt>
                      {keys!.map(key => (
                        <kbd key={key}>{key === ' ' ? 'Space' : key}</kbd>
                      ))}
                    </dt>
                    <dd>{title}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
