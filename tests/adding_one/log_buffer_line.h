LOG_BUFFER(kTicket, "ticket", make_ticket_buffer)  // records one at a time, in the order of tickets
