// The versions of a definition, in which of them objects are stored, and a way to bring all objects to the newest one.
import { useState } from 'preact/hooks'
import { refusal } from '../../api/access.js'
import { messageOf } from '../../api/client.js'
import { toast } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Badge, Notice } from '../../ui/notice.js'
import type { Definition, DefinitionTabProps } from './definition.js'
import { type MigrationProgress, migrate } from './migration.js'
import { rowsOf } from './schema-tree.js'

export function VersionsTab({ definition }: DefinitionTabProps) {
  const { spec, status } = definition
  const stored = status?.storedVersions ?? []
  return (
    <>
      <section class="panel">
        <h2>Versions</h2>
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Versions">
          <table class="plain-table">
            <thead>
              <tr>
                <th>Version</th>
                <th>Served</th>
                <th>Storage</th>
                <th>Objects stored in it</th>
                <th class="end">Fields</th>
                <th>Subresources</th>
              </tr>
            </thead>
            <tbody>
              {spec.versions.map(version => (
                <tr key={version.name}>
                  <td>
                    <strong>{version.name}</strong>{' '}
                    {version.deprecated === true && (
                      <Badge tone="warn" title={version.deprecationWarning ?? ''}>
                        deprecated
                      </Badge>
                    )}
                  </td>
                  <td>{version.served ? <Badge tone="good">served</Badge> : <Badge>not served</Badge>}</td>
                  <td>{version.storage && <Badge tone="accent">storage</Badge>}</td>
                  <td>{stored.includes(version.name) ? 'possibly' : 'none'}</td>
                  <td class="end">{rowsOf(version.schema?.openAPIV3Schema ?? {}, () => true).length}</td>
                  <td>{Object.keys(version.subresources ?? {}).join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p class="muted">Conversion: {spec.conversion?.strategy ?? 'None'}</p>
      </section>
      <Migration definition={definition} />
    </>
  )
}

function Migration({ definition }: { readonly definition: Definition }) {
  const { spec, status } = definition
  const target = spec.versions.find(({ storage }) => storage)?.name ?? ''
  const old = (status?.storedVersions ?? []).filter(name => name !== target)
  const [progress, setProgress] = useState<MigrationProgress | undefined>(undefined)
  const [error, setError] = useState<string | undefined>(undefined)
  const access = { group: spec.group, resource: spec.names.plural }
  const isRunning = progress !== undefined && !progress.isDone
  const refused =
    old.length === 0
      ? 'All objects are stored in the storage version.'
      : (refusal({ ...access, verb: 'list' }) ?? refusal({ ...access, verb: 'update' }))
  const start = (): void => {
    setError(undefined)
    migrate(definition, target, setProgress).then(
      ({ done }) => toast('done', `${done} objects are stored in ${target}`),
      (reason: unknown) => {
        setProgress(undefined)
        setError(messageOf(reason))
      },
    )
  }
  return (
    <section class="panel">
      <h2>Stored versions</h2>
      <p>
        {old.length === 0
          ? `Every object is stored in ${target}.`
          : `Some objects may still be stored in ${old.join(', ')}. Writing each of them again stores it in ${target}; then the old versions can be removed from the definition.`}
      </p>
      <div class="panel-row migration">
        <Button refused={refused} busy={isRunning} onClick={start}>
          Write all objects again
        </Button>
        {progress !== undefined && (
          <label class="migration-progress">
            <progress value={progress.done} max={Math.max(progress.total, 1)} /> {progress.done} of {progress.total}
          </label>
        )}
      </div>
      {error !== undefined && <Notice tone="error">{error}</Notice>}
    </section>
  )
}
