// The kinds of the server by group, and the views that need no kind.
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { mayList, readRules } from '../api/access.js'
import { discoveryError, type Group, groups } from '../api/discovery.js'
import type { Resource } from '../api/resource.js'
import { browseLink } from '../links.js'
import { path } from '../router.js'
import { lastNamespace } from '../state/namespace.js'
import { Icon } from '../ui/icon.js'
import { Link } from '../ui/link.js'
import { ErrorNotice } from '../ui/notice.js'
import { VIEWS } from '../views/index.js'

/** On narrow screens the navigation lies over the content, and is closed until it is needed. */
export const isNavigationOpen = signal(false)

export const groupTitle = (name: string): string => (name === '' ? 'core' : name)

const close = (): void => {
  isNavigationOpen.value = false
}

export function Navigation() {
  const [filter, setFilter] = useState('')
  const namespace = lastNamespace.value
  useEffect(() => void readRules(namespace).catch(() => undefined), [namespace])
  const wanted = filter.trim().toLowerCase()
  return (
    <>
      <nav class="navigation" aria-label="Kinds">
        <div class="navigation-entries">
          {VIEWS.flatMap(({ pattern, entry }) =>
            entry === undefined
              ? []
              : [
                  <Link key={pattern} to={pattern} current={path.value === pattern} onFollow={close}>
                    <Icon name={entry.icon} />
                    {entry.title}
                  </Link>,
                ],
          )}
        </div>
        <input
          type="search"
          class="navigation-filter"
          aria-label="Filter kinds"
          placeholder="Filter kinds"
          value={filter}
          onInput={event => setFilter(event.currentTarget.value)}
        />
        {discoveryError.value !== undefined && <ErrorNotice error={discoveryError.value} />}
        {ordered(groups.value ?? []).map(group => (
          <NavigationGroup key={group.name} group={group} filter={wanted} />
        ))}
      </nav>
      <div class="navigation-shade" onClick={close} aria-hidden="true" />
    </>
  )
}

/** What users defined comes first, then the groups that everyone uses, then the rest. */
const USUAL = ['', 'apps', 'batch', 'networking.k8s.io', 'rbac.authorization.k8s.io', 'apiextensions.k8s.io']

export function ordered(all: readonly Group[]): readonly Group[] {
  const rankOf = ({ name }: Group): number => {
    const usual = USUAL.indexOf(name)
    if (usual >= 0) return 1 + usual
    return name.includes('.') && !name.endsWith('.k8s.io') ? 0 : 100
  }
  return all.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1))
}

function NavigationGroup({ group, filter }: { readonly group: Group; readonly filter: string }) {
  const fits = ({ kind, name, shortNames }: Resource): boolean =>
    filter === '' || [kind.toLowerCase(), name, group.name, ...shortNames].some(word => word.includes(filter))
  const shown = group.resources.filter(resource => resource.verbs.includes('list') && fits(resource))
  if (shown.length === 0) return null
  const isUsual = USUAL.includes(group.name) || !group.name.endsWith('.k8s.io')
  const holdsCurrent = shown.some(resource => path.value.startsWith(browseLink(resource)))
  return (
    <details class="navigation-group" open={isUsual || holdsCurrent || filter !== ''}>
      <summary>
        <Icon name="chevron" size={12} />
        {groupTitle(group.name)}
      </summary>
      <ul>
        {shown.map(resource => {
          const link = browseLink(resource)
          const isCurrent = path.value === link || path.value.startsWith(`${link}/`)
          const isListable = mayList(resource)
          return (
            <li key={resource.name}>
              <Link
                to={browseLink(resource, resource.namespaced ? { namespace: lastNamespace.value } : {})}
                current={isCurrent}
                class={isListable ? '' : 'refused'}
                title={isListable ? resource.name : `You may not list ${resource.name}.`}
                onFollow={close}
              >
                {resource.kind}
                {!isListable && <Icon name="lock" size={12} />}
              </Link>
            </li>
          )
        })}
      </ul>
    </details>
  )
}
