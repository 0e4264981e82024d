// The rules of a version with what they may cost, and the bounds that would make an expensive one cheap.
import { useEffect, useState } from 'preact/hooks'
import { query } from '../../api/client.js'
import { type RuleCost, readCosts, type VersionCosts } from '../../api/console-api.js'
import { CostBar, printCost } from '../../ui/cost-bar.js'
import { Link } from '../../ui/link.js'
import { Badge, EmptyState, ErrorNotice, Loading, Notice } from '../../ui/notice.js'
import { chosenVersion, type Definition, type DefinitionTabProps, VersionPicker } from './definition.js'

export function RulesTab({ definition }: DefinitionTabProps) {
  const { costs, error } = useCosts(definition)
  const version = chosenVersion(definition)
  const found = costs?.find(({ name }) => name === version.name)
  return (
    <>
      <div class="panel-head">
        <VersionPicker definition={definition} />
        {found !== undefined && (
          <div class="total-cost">
            All rules: {printCost(found.total.estimate)} of {printCost(found.total.limit)}
            <CostBar cost={found.total.estimate} limit={found.total.limit} label="Estimated cost of all rules" />
          </div>
        )}
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
      {found === undefined ? (
        error === undefined && <Loading />
      ) : found.rules.length === 0 ? (
        <EmptyState title={`Version ${version.name} has no rules.`} />
      ) : (
        found.rules.map(rule => <Rule key={`${rule.path} ${rule.rule}`} rule={rule} definition={definition} />)
      )}
    </>
  )
}

function useCosts(definition: Definition): { costs: readonly VersionCosts[] | undefined; error: unknown } {
  const [costs, setCosts] = useState<readonly VersionCosts[] | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    const body = { ...definition, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
    readCosts(body, controller.signal).then(
      ({ versions }) => setCosts(versions),
      (reason: unknown) => controller.signal.aborted || setError(reason),
    )
    return () => controller.abort()
  }, [definition.metadata.generation])
  return { costs, error }
}

function Rule({ rule, definition }: { readonly rule: RuleCost; readonly definition: Definition }) {
  const { spec } = definition
  const schema = `${spec.group}/${chosenVersion(definition).name} ${spec.names.kind}`
  const path = rule.path.replaceAll('[]', '[0]').replaceAll('[*]', '')
  return (
    <section class="panel rule">
      <div class="rule-head">
        <code class="rule-path">{rule.path || 'the object'}</code>
        {rule.isTransition && <Badge>transition rule</Badge>}
        <Link to={`/playground${query({ expression: rule.rule, schema, path })}`}>try it</Link>
      </div>
      <pre class="rule-text">{rule.rule}</pre>
      {rule.message !== undefined && <p class="muted">{rule.message}</p>}
      {rule.error !== undefined ? (
        <Notice tone="error">{rule.error}</Notice>
      ) : (
        <>
          <p>
            {printCost(rule.estimate)} of {printCost(rule.limit)}
            {rule.times !== 1 &&
              `: ${printCost(rule.perEvaluation)} for one evaluation, at most ${rule.times.toLocaleString('en-US')} times`}
          </p>
          <CostBar cost={rule.estimate} limit={rule.limit} label={`Estimated cost ${printCost(rule.estimate)}`} />
          {(rule.bounds?.length ?? 0) > 0 && (
            <p class="bounds">
              {rule.estimate > rule.limit ? 'Any of these brings it under the limit: ' : 'What would bound it: '}
              {rule.bounds!.map(({ field, keyword, max }) => (
                <code key={field + keyword}>
                  {field || 'the object'}: {keyword} {max.toLocaleString('en-US')}
                </code>
              ))}
            </p>
          )}
          <details>
            <summary>Cost of its parts</summary>
            <table class="plain-table">
              <tbody>
                {rule.parts.map(({ text, depth, cost }, i) => (
                  <tr key={`${i} ${text}`}>
                    <td style={{ paddingLeft: `${depth * 14}px` }}>
                      <code>{text}</code>
                    </td>
                    <td class="end">{printCost(cost)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        </>
      )}
    </section>
  )
}
