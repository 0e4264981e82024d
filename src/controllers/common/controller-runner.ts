// Runs the controllers of a server: those that work on stored objects on one replica at a time, the one that leads, and
// those that concern the replica itself on each. On a store that only this process uses there is nothing to elect.
import { type Controller, type ControllerEnv } from './controller.js'
import type { Elected, LeaderElection } from './leader-election.js'

/** A controller that can be started, and started again after it was stopped. */
export interface RegisteredController {
  /** Kubernetes' name of it, for the log. */
  readonly name: string
  /** It concerns this replica, such as its address, and not stored objects alone. */
  readonly onEveryReplica?: boolean
  /** May return nothing if the work is done once. */
  start(): Controller | void | Promise<Controller | void>
}

export interface ControllerRunner {
  /** Resolves when all have stopped, those included that were still starting. */
  stop(): Promise<void>
}

/** `elect` is absent where this process is the only one. */
export function runControllers(
  controllers: readonly RegisteredController[],
  env: ControllerEnv,
  elect?: (elected: Elected) => LeaderElection,
): ControllerRunner {
  const own = createSet(env)
  const led = createSet(env)
  const ledControllers = controllers.filter(({ onEveryReplica }) => !onEveryReplica)
  own.start(controllers.filter(({ onEveryReplica }) => onEveryReplica))
  if (!elect) led.start(ledControllers)
  const election = elect?.({ leading: () => led.start(ledControllers), lost: () => led.stop() })
  return {
    async stop() {
      led.stop()
      own.stop()
      await Promise.all([led.stopped(), own.stopped(), election?.stop()])
    },
  }
}

/** Controllers that are started and stopped together. */
interface ControllerSet {
  start(controllers: readonly RegisteredController[]): void
  /** Stops those that run now; those that are still starting are stopped as soon as they have started. */
  stop(): void
  /** Resolves when none runs or is starting any more. */
  stopped(): Promise<void>
}

function createSet({ log }: ControllerEnv): ControllerSet {
  /** Each start, until its controller has been stopped. */
  const starts = new Set<Start>()

  async function begin(registered: RegisteredController, start: Start): Promise<void> {
    try {
      const controller = await registered.start()
      if (!controller) return void starts.delete(start)
      start.running = controller
      if (start.isOver) end(start)
    } catch (error) {
      starts.delete(start)
      log.error('a controller did not start', { controller: registered.name, error })
    }
  }

  function end(start: Start): void {
    start.isOver = true
    if (!start.running) return
    starts.delete(start)
    start.running.stop()
  }

  return {
    start(controllers) {
      for (const registered of controllers) {
        const start: Start = { running: undefined, isOver: false, done: Promise.resolve() }
        starts.add(start)
        start.done = Promise.resolve().then(() => begin(registered, start))
      }
    },
    stop() {
      for (const start of starts) end(start)
    },
    async stopped() {
      await Promise.all([...starts].map(({ done }) => done))
    },
  }
}

interface Start {
  running: Controller | undefined
  /** Stopped, perhaps before it had started. */
  isOver: boolean
  done: Promise<void>
}
