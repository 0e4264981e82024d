// The answer to an expression: value, type, cost against its limits, and its parts as a tree.
import type { ExplainedExpression, ExplainedPart } from '../../api/console-api.js'
import { CostBar, printCost } from '../../ui/cost-bar.js'
import { Badge, Notice } from '../../ui/notice.js'

interface ResultProps {
  readonly answer: ExplainedExpression | undefined
  readonly error: string | undefined
  readonly isBusy: boolean
}

export function Result({ answer, error, isBusy }: ResultProps) {
  return (
    <section class="playground-result" aria-label="Result" aria-busy={isBusy} aria-live="polite">
      {error !== undefined && <Notice tone="error">{error}</Notice>}
      {answer?.errors?.map(({ message, line, column }) => (
        <Notice key={message + line + column} tone="error">
          {line === undefined ? '' : `${line}:${column} `}
          {message}
        </Notice>
      ))}
      {answer?.type !== undefined && (
        <dl class="result-facts">
          {answer.ok && answer.cost?.actual !== undefined && (
            <div>
              <dt>Result</dt>
              <dd>
                <Value value={answer.value} />
              </dd>
            </div>
          )}
          <div>
            <dt>Type</dt>
            <dd>
              <code>{answer.type}</code>
            </dd>
          </div>
        </dl>
      )}
      {answer?.cost !== undefined && <Costs cost={answer.cost} />}
      {answer?.tree !== undefined && (
        <>
          <h2>Cost by part</h2>
          <div class="table-scroll" tabIndex={0} role="region" aria-label="Cost by part">
            <table class="plain-table cost-tree">
              <thead>
                <tr>
                  <th>Part</th>
                  <th>Type</th>
                  <th>Value</th>
                  <th class="end">Times</th>
                  <th class="end">Actual</th>
                  <th class="end">Estimate</th>
                </tr>
              </thead>
              <tbody>
                <Rows part={answer.tree} depth={0} whole={answer.tree.actual ?? 0} />
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  )
}

function Value({ value }: { readonly value: unknown }) {
  if (typeof value === 'boolean') return <Badge tone={value ? 'good' : 'bad'}>{String(value)}</Badge>
  const text = value === undefined ? 'no value' : (JSON.stringify(value, null, 2) ?? '')
  return <pre class="result-value">{text}</pre>
}

function Costs({ cost }: { readonly cost: NonNullable<ExplainedExpression['cost']> }) {
  const { actual, estimate, limit, estimateLimit } = cost
  return (
    <dl class="result-costs">
      {actual !== undefined && (
        <div>
          <dt>Actual cost</dt>
          <dd>
            {printCost(actual)} of {printCost(limit)}
            <CostBar cost={actual} limit={limit} label={`Actual cost ${actual} of ${limit}`} />
          </dd>
        </div>
      )}
      <div>
        <dt>Estimate</dt>
        <dd>
          {printCost(estimate.min)} to {printCost(estimate.max)}
          {estimateLimit !== undefined && (
            <>
              {' '}
              of {printCost(estimateLimit)}
              <CostBar
                cost={estimate.max ?? Number.MAX_VALUE}
                limit={estimateLimit}
                label={`Estimated cost ${printCost(estimate.max)} of ${estimateLimit}`}
              />
            </>
          )}
        </dd>
      </div>
    </dl>
  )
}

function Rows({
  part,
  depth,
  whole,
}: {
  readonly part: ExplainedPart
  readonly depth: number
  readonly whole: number
}) {
  const { text, type, repeated, value, error, evaluations, actual, estimate, children } = part
  return (
    <>
      <tr>
        <td style={{ paddingLeft: `${depth * 14}px` }}>
          {repeated && (
            <span class="muted" title="evaluated for each element">
              ∀{' '}
            </span>
          )}
          <code>{text}</code>
          {actual !== undefined && whole > 0 && (
            <span class="share" style={{ width: `${Math.round((actual / whole) * 100)}%` }} aria-hidden="true" />
          )}
        </td>
        <td class="brief" title={type}>
          <code>{type}</code>
        </td>
        <td class={error === undefined ? 'brief' : 'refused'} title={error ?? value}>
          <code>{error ?? value}</code>
        </td>
        <td class="end">{evaluations || ''}</td>
        <td class="end">{actual === undefined ? '' : actual.toLocaleString('en-US')}</td>
        <td class="end">{estimate === undefined ? '' : printCost(estimate.max)}</td>
      </tr>
      {children.map((child, i) => (
        <Rows key={`${i} ${child.text}`} part={child} depth={depth + 1} whole={whole} />
      ))}
    </>
  )
}
