// The views. Each is loaded when it is first shown, so that it costs nothing before. The first pattern that matches wins.
import type { ComponentType } from 'preact'
import type { Parameters } from '../router.js'
import type { IconName } from '../ui/icon.js'

/** What a view gets: the parts of its path. It reads the query with `parameter()` of router.ts. */
export interface ViewProps {
  readonly parameters: Parameters
}

export interface View {
  /** Below `/console`; `:name` is a part of any text. */
  readonly pattern: string
  readonly load: () => Promise<ComponentType<ViewProps>>
  /** An entry of the navigation, for views that need no parameters. */
  readonly entry?: { readonly title: string; readonly icon: IconName }
}

export const VIEWS: readonly View[] = [
  { pattern: '/', load: () => import('./home/home.js').then(({ Home }) => Home) },
  { pattern: '/r/:group/:version/:resource', load: () => import('./browse/browse.js').then(({ Browse }) => Browse) },
  {
    pattern: '/r/:group/:version/:resource/:namespace/:name',
    load: () => import('./object/object-view.js').then(({ ObjectView }) => ObjectView),
  },
  {
    pattern: '/new/:group/:version/:resource',
    load: () => import('./object/create-view.js').then(({ CreateView }) => CreateView),
  },
  {
    pattern: '/definitions/:name',
    load: () => import('./definition/definition.js').then(({ DefinitionView }) => DefinitionView),
  },
  {
    pattern: '/playground',
    load: () => import('./playground/playground.js').then(({ Playground }) => Playground),
    entry: { title: 'CEL playground', icon: 'code' },
  },
  {
    pattern: '/watch',
    load: () => import('./watch/watch.js').then(({ Watch }) => Watch),
    entry: { title: 'Watch', icon: 'pulse' },
  },
  {
    pattern: '/server',
    load: () => import('./server/server.js').then(({ Server }) => Server),
    entry: { title: 'Server', icon: 'server' },
  },
]
