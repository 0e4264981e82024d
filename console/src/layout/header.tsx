import { session, signOut } from '../api/session.js'
import icon from '../icon.svg'
import { parameter, path, setQuery } from '../router.js'
import { lastNamespace, namespaces, rememberNamespace } from '../state/namespace.js'
import { isDark, setTheme } from '../state/theme.js'
import { leave } from '../state/unsaved.js'
import { Button } from '../ui/button.js'
import { scoreOf } from '../ui/fuzzy.js'
import { Icon } from '../ui/icon.js'
import { Link } from '../ui/link.js'
import { openPalette } from '../ui/palette.js'
import { Suggest, type Suggestion } from '../ui/suggest.js'
import { isNavigationOpen } from './navigation.js'

const ALL = 'All namespaces'

export function Header() {
  const user = session.value?.user.username ?? ''
  return (
    <header class="header">
      <span class="only-narrow">
        <Button
          icon="menu"
          label="Kinds"
          tone="quiet"
          pressed={isNavigationOpen.value}
          onClick={() => {
            isNavigationOpen.value = !isNavigationOpen.value
          }}
        />
      </span>
      <Link to="/" class="brand">
        <img src={icon} alt="" width={22} height={22} />
        <span>Binnacle</span>
      </Link>
      <NamespacePicker />
      <button type="button" class="finder" aria-keyshortcuts="Control+K" onClick={() => openPalette()}>
        <Icon name="search" />
        <span>Find a kind, an object, an action</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <div class="header-end">
        <Button
          icon={isDark() ? 'sun' : 'moon'}
          label={isDark() ? 'Light colours' : 'Dark colours'}
          tone="quiet"
          onClick={() => setTheme(isDark() ? 'light' : 'dark')}
        />
        <span class="user" title={(session.value?.user.groups ?? []).join('\n')}>
          <Icon name="user" />
          <span>{user}</span>
        </span>
        <Button icon="leave" label="Sign out" tone="quiet" onClick={() => leave(() => void signOut())} />
      </div>
    </header>
  )
}

/** Views of one namespace have it in their address, so that a link leads to the same. */
function NamespacePicker() {
  const isBrowsing = /^\/(r\/[^/]+\/[^/]+\/[^/]+|watch)$/.test(path.value)
  const current = isBrowsing ? parameter('namespace') : lastNamespace.value
  const choose = (text: string): void => {
    const chosen = text === ALL ? '' : text.trim()
    rememberNamespace(chosen)
    if (isBrowsing) setQuery({ namespace: chosen }, { push: true })
  }
  const suggest = (text: string): readonly Suggestion[] => {
    const all = [ALL, ...namespaces.value]
    const isUntouched = text === (current === '' ? ALL : current)
    const found = isUntouched
      ? all
      : all.filter(name => scoreOf(text, name) > 0).toSorted((a, b) => scoreOf(text, b) - scoreOf(text, a))
    return found.map(name => ({ text: name, label: name }))
  }
  return (
    <Suggest
      class="namespace-picker"
      id="namespace"
      label="Namespace"
      value={current === '' ? ALL : current}
      suggest={suggest}
      onCommit={choose}
      single
    />
  )
}
