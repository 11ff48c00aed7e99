// What the steps of an answer (lab/laboratory.h) add up to, up to one of them.

function rowsOf(firstRows) {
  const rows = new Map();
  apply(rows, firstRows);
  return rows;
}
function apply(rows, changes) {
  for (const change of changes) {
    if (!rows.has(change.table)) rows.set(change.table, new Map());
    if (change.after) rows.get(change.table).set(change.slot, change.after);
    else rows.get(change.table).delete(change.slot);
  }
}

// The state of the work: rows, what the last step changed in them, statements, records, positions, and the disk.
export function stateOfWork(forward, at) {
  const state = { rows: rowsOf(forward.first_rows), changed: [], statements: [], records: [], segments: new Map(), drawn: forward.begin, filled: forward.begin, written: forward.begin,
    durable: forward.begin };
  const record = (lsn) => state.records.find((one) => one.lsn === lsn);
  const told = (number) => { const one = state.statements[number]; one.state = one.bad ? one.state.replace(/,.*/, ", and the client knows") : "durable, and the client knows"; one.good = !one.bad; };
  for (let i = 0; i < at; ++i) {
    const event = forward.steps[i], isNow = i === at - 1;
    state.changed = event.changes ?? [];
    apply(state.rows, state.changed);
    switch (event.kind) {
      case "begin":
        state.statements.forEach((one) => { one.isNow = false; });
        state.statements.push({ text: event.text, state: "runs", isNow: true });
        break;
      case "reserve":
        state.records.push({ lsn: event.lsn, size: event.bytes, state: "reserved", bytes: "", text: "", isNow });
        state.drawn = event.lsn + event.bytes;
        break;
      case "fill":
        Object.assign(record(event.lsn), { state: "buffer", bytes: event.bytes, text: event.text, isNow });
        state.filled = event.lsn + record(event.lsn).size;
        break;
      case "answer": {
        const one = state.statements[event.statement];
        Object.assign(one, { columns: event.columns, rows: event.rows, bad: !event.ok });
        one.state = `${event.ok ? `${event.tag}` : `failed: ${event.message}`}${event.waits ? ", waits for the log" : ", and the client knows"}`;
        one.good = event.ok && !event.waits;
        break;
      }
      case "write": {
        if (!state.segments.has(event.segment)) state.segments.set(event.segment, new Map());
        for (const block of event.blocks) {
          state.segments.get(event.segment).set(block.block, { begin: block.begin, used: block.used, sectors: [...Array(8)].map(() => ({ state: "cache", isNow })) });
          state.written = Math.max(state.written, block.begin + block.used);
        }
        for (const one of state.records) if (one.state === "buffer" && one.lsn < state.written) Object.assign(one, { state: "cache", isNow });
        break;
      }
      case "sector": {
        const block = state.segments.get(event.segment)?.get(Math.floor(event.offset / 4096) - 1);
        if (block) block.sectors[(event.offset % 4096) / 512] = { state: "medium", isNow };
        break;
      }
      case "synced":
        for (const one of state.records) if (one.state === "cache") Object.assign(one, { state: "durable", isNow });
        break;
      case "durable":
        state.durable = event.lsn;
        event.acknowledged.forEach(told);
        break;
    }
    if (!isNow) {
      for (const one of state.records) one.isNow = false;
      for (const blocks of state.segments.values()) for (const block of blocks.values()) for (const sector of block.sectors) sector.isNow = false;
    }
  }
  return state;
}

// The state of the replay: rows, what the last step changed, which records have been begun and done, and the pieces by block and lane.
export function stateOfRecovery(recovery, at) {
  const state = { rows: rowsOf(recovery.first_rows), changed: [], begun: new Set(), done: new Set(), lanes: new Map(), now: null, block: null };
  const left = new Map();  // pieces that have not run, by record, as far as they are known
  const pieces = new Map();
  const key = (event, piece) => `${event.block}/${event.batch}/${piece.record}/${piece.part}`;
  for (let i = 0; i < at; ++i) {
    const event = recovery.steps[i], isNow = i === at - 1;
    state.changed = event.changes;
    apply(state.rows, event.changes);
    if (event.kind === "replay") state.done.add(event.record);
    if (event.kind === "fill") {
      if (!state.lanes.has(event.block)) state.lanes.set(event.block, new Map());
      for (const placed of event.pieces) {
        const piece = { record: placed.record, part: placed.part, lanes: placed.lanes.length, ran: false, batch: event.batch };
        pieces.set(key(event, placed), piece);
        left.set(placed.record, (left.get(placed.record) ?? 0) + 1);
        for (const lane of placed.lanes) {
          const lanes = state.lanes.get(event.block);
          if (!lanes.has(lane)) lanes.set(lane, []);
          // Batches may be filled in another order than that in which they are published.
          const list = lanes.get(lane), before = list.findIndex((other) => other.batch > event.batch);
          list.splice(before < 0 ? list.length : before, 0, piece);
        }
      }
    }
    if (event.kind === "run") {
      Object.assign(pieces.get(key(event, event)), { ran: true, thread: event.thread, step: i + 1, isNow });
      state.begun.add(event.record);
    }
    if (event.kind === "retire") {
      const first = recovery.steps.find((step) => step.kind === "load" && step.batch === event.batch).first_record;
      const next = recovery.steps.find((step) => step.kind === "load" && step.batch === event.batch + 1)?.first_record ?? recovery.log.records.length;
      for (let record = first; record < next; ++record) state.done.add(record);
    }
    if (isNow) {
      state.now = event.record ?? null;
      state.block = event.block ?? null;
    }
  }
  return state;
}
