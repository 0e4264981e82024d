// The frame around the views: who is signed in, where one is, and what is shown.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { refusals } from './api/client.js'
import { followDiscovery } from './api/discovery.js'
import { readSession, session } from './api/session.js'
import { Header } from './layout/header.js'
import { Help, openHelp } from './layout/help.js'
import { isNavigationOpen, Navigation } from './layout/navigation.js'
import { UnsavedDialog } from './layout/unsaved-dialog.js'
import { matchPath, navigate, path } from './router.js'
import { followNamespaces } from './state/namespace.js'
import { isDark, setTheme } from './state/theme.js'
import { useCommands } from './state/use-commands.js'
import { EmptyState, ErrorNotice, Loading } from './ui/notice.js'
import { openPalette, Palette } from './ui/palette.js'
import { Toasts } from './ui/toasts.js'
import { VIEWS, type View, type ViewProps } from './views/index.js'
import { SignIn } from './views/sign-in/sign-in.js'

export function App() {
  const refused = refusals.value
  useEffect(() => {
    if (refused > 0) void readSession()
  }, [refused])
  if (session.value === undefined) return <Loading />
  return (
    <>
      {session.value === null ? <SignIn /> : <SignedIn key={session.value.user.username} />}
      <Toasts />
    </>
  )
}

function SignedIn() {
  useEffect(() => {
    const controller = new AbortController()
    followDiscovery(controller.signal)
    followNamespaces(controller.signal)
    return () => controller.abort()
  }, [])
  useCommands(
    [
      {
        id: 'palette',
        title: 'Find anything',
        group: 'Navigate',
        keys: ['Ctrl+k'],
        run: () => openPalette(),
        hidden: true,
      },
      { id: 'kinds', title: 'Go to a kind', group: 'Navigate', keys: [':'], run: () => openPalette(':') },
      {
        id: 'actions',
        title: 'Run an action',
        group: 'Navigate',
        keys: ['>'],
        run: () => openPalette('>'),
        hidden: true,
      },
      { id: 'home', title: 'All kinds', group: 'Navigate', run: () => navigate('/') },
      { id: 'help', title: 'Keys', group: 'Help', keys: ['?'], run: openHelp },
      {
        id: 'theme',
        title: 'Switch between light and dark',
        group: 'View',
        run: () => setTheme(isDark() ? 'light' : 'dark'),
      },
    ],
    [],
  )
  return (
    <div class={`frame${isNavigationOpen.value ? ' navigation-open' : ''}`}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <Navigation />
      <main id="main" tabIndex={-1}>
        <Shown />
      </main>
      <Palette />
      <Help />
      <UnsavedDialog />
    </div>
  )
}

/** The view that the path names. */
function Shown() {
  const found = findView(path.value)
  const [loaded, setLoaded] = useState<{ view: View; Component: ComponentType<ViewProps> } | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const view = found?.view
  useEffect(() => {
    if (view === undefined) return
    let isCurrent = true
    setError(undefined)
    view.load().then(
      Component => isCurrent && setLoaded({ view, Component }),
      (reason: unknown) => isCurrent && setError(reason),
    )
    return () => {
      isCurrent = false
    }
  }, [view])
  if (found === undefined) return <EmptyState title="There is no such view." />
  if (error !== undefined) return <ErrorNotice error={error} />
  if (loaded === undefined || loaded.view !== found.view) return <Loading />
  const { Component } = loaded
  return <Component key={path.value} parameters={found.parameters} />
}

function findView(actual: string): { view: View; parameters: ViewProps['parameters'] } | undefined {
  for (const view of VIEWS) {
    const parameters = matchPath(view.pattern, actual)
    if (parameters !== undefined) return { view, parameters }
  }
  return undefined
}
