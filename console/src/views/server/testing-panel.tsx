// Of a test server: faults are switched on and off, and the clock is moved.
import { useEffect, useState } from 'preact/hooks'
import { addFault, clearFaults, type Fault, moveClock, readClock, readFaults } from '../../api/console-api.js'
import { toast, toastError } from '../../state/toasts.js'
import { Button } from '../../ui/button.js'
import { Badge } from '../../ui/notice.js'

const VERBS = ['', 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
const EFFECTS = ['409', '429', '500', '503', '410', 'delay']
const STEPS = ['1m', '1h', '24h']
const POLL_MS = 2000

export function TestingPanel() {
  const [faults, setFaults] = useState<readonly Fault[]>([])
  const [clock, setClock] = useState('')
  const [verb, setVerb] = useState('')
  const [resource, setResource] = useState('')
  const [effect, setEffect] = useState('409')
  const [times, setTimes] = useState('1')
  const read = (signal?: AbortSignal): void => {
    void Promise.all([readFaults(signal), readClock(signal)]).then(
      ([{ active }, { now }]) => {
        setFaults(active)
        setClock(now)
      },
      () => undefined,
    )
  }
  useEffect(() => {
    const controller = new AbortController()
    read(controller.signal)
    const timer = setInterval(() => read(controller.signal), POLL_MS)
    return () => {
      controller.abort()
      clearInterval(timer)
    }
  }, [])
  const carryOut = (work: Promise<unknown>, done: string): void => {
    work.then(() => {
      toast('done', done)
      read()
    }, toastError)
  }
  const inject = (): void => {
    const fault = {
      ...(verb !== '' && { verb }),
      ...(resource.trim() !== '' && { resource: resource.trim() }),
      ...(effect === 'delay' ? { latency: '1s' } : { status: Number(effect) }),
      ...(Number(times) > 0 && { times: Number(times) }),
    }
    carryOut(addFault(fault), 'The fault is on')
  }
  return (
    <section class="panel testing" aria-labelledby="testing-title">
      <h2 id="testing-title">Test server</h2>
      <div class="panel-row">
        <label class="field">
          Verb
          <select value={verb} onChange={event => setVerb(event.currentTarget.value)}>
            {VERBS.map(each => (
              <option key={each} value={each}>
                {each === '' ? 'any' : each}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Resource
          <input
            type="text"
            placeholder="any"
            value={resource}
            onInput={event => setResource(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          Effect
          <select value={effect} onChange={event => setEffect(event.currentTarget.value)}>
            {EFFECTS.map(each => (
              <option key={each} value={each}>
                {each === 'delay' ? 'delay 1s' : `answer ${each}`}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Times (0: always)
          <input type="number" min={0} value={times} onInput={event => setTimes(event.currentTarget.value)} />
        </label>
        <Button icon="plus" onClick={inject}>
          Switch fault on
        </Button>
        <Button
          refused={faults.length === 0 ? 'No fault is on.' : undefined}
          onClick={() => carryOut(clearFaults(), 'All faults are off')}
        >
          Switch all off
        </Button>
      </div>
      {faults.length === 0 ? (
        <p class="muted">No fault is on.</p>
      ) : (
        <ul class="faults" aria-label="Faults that are on">
          {faults.map((fault, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two equal faults may be on
            <li key={index}>
              <Badge tone="warn">fault</Badge> <span title={JSON.stringify(fault)}>{describeFault(fault)}</span>
            </li>
          ))}
        </ul>
      )}
      <div class="panel-row clock">
        <span>
          Clock <code>{clock}</code>
        </span>
        {STEPS.map(step => (
          <Button key={step} onClick={() => carryOut(moveClock({ advance: step }), `The clock is ${step} ahead`)}>
            +{step}
          </Button>
        ))}
        <Button icon="pause" onClick={() => carryOut(moveClock({ freeze: true }), 'The clock stands still')}>
          Freeze
        </Button>
        <Button icon="play" onClick={() => carryOut(moveClock({ run: 1 }), 'The clock runs')}>
          Run
        </Button>
      </div>
    </section>
  )
}

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `create of configmaps is answered 503, once`; members that the panel does not offer are shown as they are. */
export function describeFault({ verb, resource, status, latency, times, ...others }: Fault): string {
  const what = `${typeof verb === 'string' ? verb : 'any request'}${typeof resource === 'string' ? ` of ${resource}` : ''}`
  const effects = [
    ...(latency === undefined ? [] : [`waits ${plain(latency)}`]),
    ...(status === undefined ? [] : [`is answered ${plain(status)}`]),
    ...Object.entries(others).map(([name, value]) => `${name} ${JSON.stringify(value)}`),
  ]
  const often = times === undefined ? 'always' : times === 1 ? 'once' : `${plain(times)} times`
  return `${what} ${effects.join(', ')}, ${often}`
}
