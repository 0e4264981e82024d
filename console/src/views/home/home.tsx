// All kinds of the server, by group.
import { useEffect } from 'preact/hooks'
import { groups } from '../../api/discovery.js'
import { session } from '../../api/session.js'
import { groupTitle, ordered } from '../../layout/navigation.js'
import { browseLink } from '../../links.js'
import { lastNamespace } from '../../state/namespace.js'
import { Link } from '../../ui/link.js'
import { Loading } from '../../ui/notice.js'

export function Home() {
  useEffect(() => {
    document.title = 'Binnacle'
  }, [])
  const all = groups.value
  if (all === undefined) return <Loading label="Reading what the server offers" />
  const kinds = all.reduce((sum, { resources }) => sum + resources.length, 0)
  return (
    <div class="page home">
      <header class="page-head">
        <h1>Kinds</h1>
        <p class="muted">
          {kinds} kinds in {all.length} groups
          {session.value?.version !== undefined && `, as Kubernetes ${session.value.version} serves them`}
        </p>
      </header>
      <div class="kind-groups">
        {ordered(all).map(({ name, resources }) => (
          <section key={name}>
            <h2>{groupTitle(name)}</h2>
            <ul>
              {resources
                .filter(({ verbs }) => verbs.includes('list'))
                .map(resource => (
                  <li key={resource.name}>
                    <Link to={browseLink(resource, resource.namespaced ? { namespace: lastNamespace.value } : {})}>
                      {resource.kind}
                    </Link>
                    <span class="muted">{resource.shortNames[0] ?? ''}</span>
                    <span class="muted versions">{resource.versions.join(' ')}</span>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </div>
  )
}
