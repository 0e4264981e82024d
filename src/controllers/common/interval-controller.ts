// A controller that does one thing again and again, at an interval that starts when the work has succeeded.
import { type Controller, type ControllerEnv, createControllerQueue } from './controller.js'

/** `name` is that of its work queue. Work that fails is tried again as the queue does it. */
export function startIntervalController(
  name: string,
  env: ControllerEnv,
  intervalMs: number,
  work: () => Promise<void>,
): Controller {
  let isStopped = false
  let cancel = (): void => {}
  const queue = createControllerQueue(name, env, async key => {
    await work()
    if (!isStopped) cancel = env.clock.after(intervalMs, () => queue.add(key))
  })
  queue.add('all')
  return {
    idle: () => queue.idle(),
    stop() {
      isStopped = true
      cancel()
      queue.stop()
    },
  }
}
