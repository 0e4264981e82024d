// A watch whose events are delayed, cut off, or lack their bookmarks.
import type { EventSink, OpenWatch, PreparedWatch } from '../../verbs/watch.js'
import { millisecondsOf, type WatchFault } from './fault.js'

export const faultyWatch = (watch: PreparedWatch, fault: WatchFault): PreparedWatch => ({
  ...watch,
  start(sink) {
    const steps: ((sink: EventSink) => EventSink)[] = []
    if (fault.withholdBookmarks) steps.push(withoutBookmarks)
    let open: OpenWatch | undefined
    if (fault.dropAfter !== undefined) steps.push(inner => dropAfter(inner, fault.dropAfter!, () => open?.stop()))
    const delay = fault.delay === undefined ? undefined : delayed(sink, millisecondsOf(fault.delay))
    const faulty = steps.reduce((inner, step) => step(inner), delay?.sink ?? sink)
    open = watch.start(faulty)
    return {
      resume: () => open.resume(),
      stop() {
        delay?.stop()
        open.stop()
      },
    }
  },
})

const withoutBookmarks = (sink: EventSink): EventSink => ({
  event: (...event) => sink.event(...event),
  // The bookmark after the initial events is part of a streaming list, so that it is still sent.
  bookmark: (revision, initial) => (initial ? sink.bookmark(revision, initial) : true),
  end: status => sink.end(status),
})

function dropAfter(sink: EventSink, count: number, stop: () => void): EventSink {
  let left = count
  let isOver = false
  return {
    event(...event) {
      if (isOver) return true
      const accepted = sink.event(...event)
      if (--left > 0) return accepted
      isOver = true
      // Not from inside the delivery of an event.
      queueMicrotask(() => {
        stop()
        sink.end()
      })
      return true
    },
    bookmark: (...bookmark) => isOver || sink.bookmark(...bookmark),
    end: status => {
      if (!isOver) sink.end(status)
    },
  }
}

/** Passes everything on in order, each after the delay. */
function delayed(sink: EventSink, milliseconds: number): { readonly sink: EventSink; stop(): void } {
  const timers = new Set<NodeJS.Timeout>()
  const later = (run: () => void): true => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      run()
    }, milliseconds).unref()
    timers.add(timer)
    return true
  }
  return {
    sink: {
      event: (...event) => later(() => void sink.event(...event)),
      bookmark: (...bookmark) => later(() => void sink.bookmark(...bookmark)),
      end: status => void later(() => sink.end(status)),
    },
    stop: () => timers.forEach(timer => clearTimeout(timer)),
  }
}
